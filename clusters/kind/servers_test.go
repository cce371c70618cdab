package kind

import "testing"

func TestTheStateOfATask(t *testing.T) {
	const table = "TASK    PID     STATUS    \nab12    812     RUNNING\nab1    9021    PAUSED\n"
	for id, want := range map[string]string{"ab12": "RUNNING", "ab1": "PAUSED", "gone": "", "TASK": "STATUS"} {
		if got := stateOf(table, id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}

// TestWhatNeedsTheAPIServerWaitsForIt: the loop must not wait for what only the loop can bring back.
func TestWhatNeedsTheAPIServerWaitsForIt(t *testing.T) {
	w := &World{servers: servers{frozen: map[string][]string{apiComponent: {"ab12"}}}}
	done := 0
	w.WhenAPI(func() { done++ })
	if done != 0 || len(w.servers.waiting) != 1 {
		t.Errorf("done %d times while the API server is frozen, %d wait", done, len(w.servers.waiting))
	}
	w.servers.frozen[apiComponent] = nil
	w.WhenAPI(func() { done++ })
	if done != 1 {
		t.Errorf("done %d times afterwards, want once", done)
	}
}
