package extract

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Gaps are the shortest and the longest time between two moments of a cron schedule, as Kubernetes and Argo read it. Summer
// time is left out: it moves the hands, not the period that somebody meant.
func Gaps(schedule string) (shortest, longest time.Duration, err error) {
	if strings.HasPrefix(schedule, "TZ=") || strings.HasPrefix(schedule, "CRON_TZ=") {
		_, schedule, _ = strings.Cut(schedule, " ")
	}
	parsed, err := guardedCron(schedule)
	if err != nil {
		return 0, 0, err
	}
	switch s := parsed.(type) {
	case cron.ConstantDelaySchedule:
		return s.Delay, s.Delay, nil
	case *cron.SpecSchedule:
		return gapsOf(s)
	}
	return 0, 0, fmt.Errorf("the schedule %q has no period", schedule)
}

func guardedCron(schedule string) (s cron.Schedule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not a cron schedule: %v", p)
		}
	}()
	s, err = cron.ParseStandard(schedule)
	if err != nil {
		return nil, fmt.Errorf("not a cron schedule: %w", err)
	}
	return s, nil
}

// cycle is after how many days the calendar begins anew, weekdays included: 28 years, but for 2100.
const cycle = 28*365 + 7

func gapsOf(s *cron.SpecSchedule) (shortest, longest time.Duration, err error) {
	day := minutesOf(s)
	if len(day) == 0 {
		return 0, 0, fmt.Errorf("the schedule never comes")
	}
	note := func(gap time.Duration) {
		if shortest == 0 || gap < shortest {
			shortest = gap
		}
		longest = max(longest, gap)
	}
	previous := -1
	date := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range cycle {
		if d := date.AddDate(0, 0, n); !runsOn(s, d) {
			continue
		}
		if previous >= 0 {
			note(time.Duration(n-previous)*24*time.Hour - day[len(day)-1] + day[0])
		} else {
			for i := range len(day) - 1 { // within a day it is the same on all days
				note(day[i+1] - day[i])
			}
		}
		previous = n
	}
	if previous < 0 {
		return 0, 0, fmt.Errorf("the schedule never comes")
	}
	if shortest == 0 {
		return 0, 0, fmt.Errorf("the schedule comes once in %d years", cycle/365)
	}
	return shortest, longest, nil
}

// minutesOf are the moments of a day.
func minutesOf(s *cron.SpecSchedule) []time.Duration {
	var day []time.Duration
	for hour := range 24 {
		for minute := range 60 {
			if s.Hour&(1<<hour) != 0 && s.Minute&(1<<minute) != 0 {
				day = append(day, time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute)
			}
		}
	}
	return day
}

// runsOn tells whether the day is one of the schedule's. As in cron, day of month and weekday are either-or where both are given.
func runsOn(s *cron.SpecSchedule, d time.Time) bool {
	const star = 1 << 63
	dom, dow := s.Dom&(1<<d.Day()) != 0, s.Dow&(1<<int(d.Weekday())) != 0
	if s.Month&(1<<int(d.Month())) == 0 {
		return false
	}
	if s.Dom&star != 0 || s.Dow&star != 0 {
		return dom && dow
	}
	return dom || dow
}
