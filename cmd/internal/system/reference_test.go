//go:build !planted

package system_test

import (
	"strings"
	"testing"

	"github.com/squall-chaos/squall/cmd/internal/system"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

func TestOnlyTheReferenceIsInThisBuild(t *testing.T) {
	for name, known := range map[string]bool{"": true, "reference": true, "naive": false, "no-epoch": false} { // order does not matter
		r := environment.NewReader(func(string) (string, bool) { return name, name != "" })
		s := system.Read(r)
		err := r.Err()
		if known != (err == nil) || s.Store != nil || s.Ports != nil || s.Workers != nil || s.Witness != nil || s.Settings != nil {
			t.Errorf("%q: %v", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "go build -tags planted") {
			t.Errorf("%q: no way out is named: %v", name, err)
		}
	}
}
