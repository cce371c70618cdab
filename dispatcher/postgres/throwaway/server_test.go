package throwaway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// As a child of a test this program starts a server, says where, and waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("SQUALL_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	s, err := throwaway.Start(context.Background(), throwaway.Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.Folder)
	fmt.Println(s.URL("postgres"))
	select {}
}

// start starts a server. Without binaries the test is left out, but in continuous integration; `make test` says so.
func start(t *testing.T) *throwaway.Server {
	t.Helper()
	s, err := throwaway.Start(t.Context(), throwaway.Options{})
	if errors.Is(err, throwaway.ErrNoBinaries) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStopLeavesNothingBehind(t *testing.T) {
	s := start(t)
	if err := ping(t, s.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	if err := ping(t, strings.Replace(s.URL("postgres"), "postgres:", "postgres:x", 2)); err == nil {
		t.Error("a wrong password was good enough")
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	gone(t, s.Folder)
	if err := ping(t, s.URL("postgres")); err == nil {
		t.Error("the server still answers")
	}
}

// TestKilledProcessLeavesNothingBehind ends the process that started a server in the way that it cannot notice.
func TestKilledProcessLeavesNothingBehind(t *testing.T) {
	if err := start(t).Stop(); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "SQUALL_TEST_CHILD=1")
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	lines.Scan()
	folder := lines.Text()
	lines.Scan()
	url := lines.Text()
	if err := ping(t, url); err != nil {
		t.Fatalf("%s %s: %v", folder, url, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	awaitGone(t, folder)
}

func TestWithoutBinariesTheErrorNamesTheCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	defer throwaway.LookIn(t.TempDir())()
	_, err := throwaway.Start(t.Context(), throwaway.Options{})
	if !errors.Is(err, throwaway.ErrNoBinaries) || !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Fatal(err)
	}
}

// awaitGone polls: the keeper is nobody's child by now, so there is nothing to wait on.
func awaitGone(t *testing.T, folder string) {
	t.Helper()
	tick, patience := time.NewTicker(5*time.Millisecond), time.NewTimer(20*time.Second)
	defer tick.Stop()
	for !errors.Is(stat(folder), os.ErrNotExist) {
		select {
		case <-tick.C:
		case <-patience.C:
			t.Fatalf("%s is still there", folder)
		}
	}
}

func ping(t *testing.T, url string) error {
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return err
	}
	return conn.Close(t.Context())
}

func stat(file string) error {
	_, err := os.Stat(file)
	return err
}

func gone(t *testing.T, folder string) {
	t.Helper()
	if err := stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", folder, err)
	}
}
