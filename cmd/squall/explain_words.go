package main

import (
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

// explainSetting says what a setting is and its value in every profile.
func explainSetting(name string) (string, bool) {
	for _, s := range settingTexts {
		if !strings.EqualFold(s.name, name) {
			continue
		}
		text := fmt.Sprintf("%s (setting): %s.\n", s.name, s.does)
		for _, profile := range dispatcher.Profiles() {
			text += fmt.Sprintf("\n    %-12s %s", profile, s.in(profile))
		}
		return text + "\n\nSet it under `settings:` of a scenario, or with --set " + s.name + "=VALUE.", true
	}
	return "", false
}

// actionTexts say what becomes of a call.
var actionTexts = map[clusters.Action]string{
	clusters.Refuse:      "the connection is refused: nothing happens, and the caller knows at once",
	clusters.Drop:        "the request is lost: nothing happens, and the caller learns it from its timeout only",
	clusters.LoseReply:   "the call takes effect and its reply is lost: the caller runs into its timeout and knows nothing",
	clusters.CutReply:    "the call takes effect and the connection breaks before the reply: the caller knows at once that it knows nothing",
	clusters.CutCall:     "the connection breaks before the call takes effect: nothing happens, and the caller cannot tell",
	clusters.Late:        "the caller runs into its timeout, and the call takes effect after `delay`, when nobody waits for it any more",
	clusters.Slow:        "the call takes `delay` longer",
	clusters.Answer:      "the server answers with `code` and does nothing; with `applied` it does what it was asked all the same",
	clusters.CrashCaller: "the call takes effect, and the process that made it crashes before the reply",
}

// explainAction says what an action of a call fault does.
func explainAction(name string) (string, bool) {
	action := clusters.Action(strings.ToLower(name))
	does, ok := actionTexts[action]
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%s (action of a %s fault): %s.", action, faults.Call, does), true
}

// explainBound says what the bound B is made of, and how long it is.
func explainBound(name string) (string, bool) {
	if !strings.EqualFold(name, "B") {
		return "", false
	}
	text := "B: how long a lost task may stay running, or a claimable one unclaimed, in undisturbed time:\n\n" +
		"    B = detect + recovery_grace + recover_interval * rounds + tick + create_timeout\n\n" +
		"detect is what the fault itself imposes, as the time until a silent node is evicted; rounds is the number of tasks lost\n" +
		"at once divided by recover_batch, rounded up. With no detect and one lost task:\n"
	for _, profile := range dispatcher.Profiles() {
		s, _ := dispatcher.Profile(profile)
		text += fmt.Sprintf("\n    %-12s %s", profile, short(s.Bound(0, 1)))
	}
	return text, true
}

func settingNames() []string {
	names := make([]string, len(settingTexts))
	for i, s := range settingTexts {
		names[i] = s.name
	}
	return names
}
