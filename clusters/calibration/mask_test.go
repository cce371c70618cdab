package calibration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestNothingShowsThroughTheMask(t *testing.T) {
	s := NewSamples()
	of := Subject{Namespace: "billing", Pod: "invoice-7", Node: "ip-10-0-0-7", Labels: map[string]string{"team": "payments"}}
	s.Add(Run, "", Sample{Value: time.Second, Of: of})
	s.Add(Startup, "", Sample{Value: time.Second, Of: of})
	s.Hide(NewMask([]byte("salt")))
	a, b := s.All(Run)[0].Of, s.All(Startup)[0].Of
	text := fmt.Sprint(a)
	for _, word := range []string{"billing", "invoice", "ip-10", "team", "payments"} {
		if strings.Contains(text, word) {
			t.Errorf("%q shows in %s", word, text)
		}
	}
	if a.Pod != b.Pod || a.Pod == "" || a.Namespace == NewMask([]byte("other")).Name("namespace", "billing") {
		t.Errorf("%v and %v: the same pod, and another salt", a, b)
	}
	if NewMask(nil).Name("pod", "x") == NewMask(nil).Name("node", "x") {
		t.Error("a pod and a node of one name have one mask")
	}
}
