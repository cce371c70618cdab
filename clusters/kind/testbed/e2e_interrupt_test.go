//go:build e2e

package testbed

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// created waits until node containers are there.
func created(t *testing.T, name string) {
	t.Helper()
	within(t, 2*time.Minute, "containers of "+name, func(ctx context.Context) (string, bool) {
		r, err := one(ctx, name)
		if err != nil || r == nil {
			return "nothing", false
		}
		return r.name, len(r.containers) > 0
	})
}

func TestUpThatIsCancelledLeavesNothing(t *testing.T) {
	image := nodeImage(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := Up(ctx, Options{Name: "e2e-cancel", Image: image, OnDemand: 1, Spot: 1})
		done <- err
	}()
	created(t, "e2e-cancel")
	from := time.Now()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	t.Logf("gone after %s", time.Since(from).Round(100*time.Millisecond))
	nothingLeft(t, "e2e-cancel")
}

func TestUpThatIsKilledIsFoundAndRemoved(t *testing.T) {
	const name, variable = "e2e-killed", "SQUALL_E2E_UP"
	if os.Getenv(variable) != "" { // the one that is killed
		_, err := Up(t.Context(), Options{Name: name, Image: os.Getenv(variable), OnDemand: 1, Spot: 1})
		t.Fatal(err)
	}
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	victim.Env = append(os.Environ(), variable+"="+nodeImage(t))
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	created(t, name)
	infos, err := List(t.Context())
	if err != nil || len(infos) == 0 {
		t.Errorf("%+v, %v", infos, err)
	}
	for _, i := range infos {
		if i.Name == name && i.State != Creating {
			t.Errorf("while it is created: %s", i.State)
		}
	}
	_ = victim.Process.Kill()
	_ = victim.Wait()
	infos, err = List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, i := range infos {
		if i.Name == name {
			found = true
			if i.State != Incomplete || i.Remedy == "" {
				t.Errorf("after it was killed: %+v", i)
			}
		}
	}
	if !found {
		t.Errorf("not listed: %+v", infos)
	}
	if err := Down(t.Context(), name, nil); err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, name)
}
