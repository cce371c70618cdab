package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stage is the entrypoint with stand-ins for the programs of Postgres: initdb makes the files that the script touches, postgres says how it was called.
type stage struct {
	dir, data string
	t         *testing.T
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir(), t: t}
	s.data = filepath.Join(s.dir, "volume", "pgdata")
	for name, script := range map[string]string{ // order does not matter
		"id":       `echo "${ID:-999}"`,
		"initdb":   `echo "initdb $*" >>"$LOG"; [ "$1" != --sync-only ] || exit 0; cat "$PGDATA/password" >>"$LOG"; mkdir "$2/base"; echo "# sample" >"$2/postgresql.conf"; echo "# sample" >"$2/pg_hba.conf"; echo 17 >"$2/PG_VERSION"`,
		"postgres": `echo "postgres $*" >>"$LOG"; case $1 in --single) [ -z "${KILLED:-}" ] || kill -9 $PPID; cat >>"$LOG";; esac`,
	} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// run starts a container on the volume, and returns what the stand-ins saw and what was said.
func (s *stage) run(environment, args string) (log, said string, err error) {
	s.t.Helper()
	file := filepath.Join(s.dir, "log")
	_ = os.Remove(file)
	cmd := exec.Command("/bin/sh", append([]string{"entrypoint/entrypoint.sh"}, strings.Fields(args)...)...)
	cmd.Env = append([]string{"PATH=" + s.dir + ":" + os.Getenv("PATH"), "LOG=" + file, "PGDATA=" + s.data}, strings.Fields(environment)...)
	out, err := cmd.CombinedOutput()
	text, _ := os.ReadFile(file)
	return strings.ReplaceAll(string(text), s.data, "DATA"), strings.ReplaceAll(string(out), s.data, "DATA"), err
}

const firstStart = `initdb -D DATA/initialising -U postgres --encoding=UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=scram-sha-256 --pwfile=DATA/password --no-sync
secret
postgres --single -D DATA/initialising -c fsync=off -c log_checkpoints=off postgres
CREATE DATABASE "squall"
initdb --sync-only -D DATA
`

func (s *stage) expectDatabase() {
	s.t.Helper()
	for name, want := range map[string]string{"PG_VERSION": "17\n", "postgresql.conf": "# sample\nlisten_addresses = '*'\n", "pg_hba.conf": "# sample\nhost all all all scram-sha-256\n"} { // order does not matter
		if text, err := os.ReadFile(filepath.Join(s.data, name)); err != nil || string(text) != want {
			s.t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"password", "initialising"} {
		if _, err := os.Stat(filepath.Join(s.data, name)); err == nil {
			s.t.Errorf("%s is still there", name)
		}
	}
	if info, err := os.Stat(s.data); err != nil || info.Mode().Perm() != 0o700 {
		s.t.Errorf("PGDATA: %v, %v", info.Mode(), err)
	}
}

func TestEntrypointSetsUpADatabaseOnce(t *testing.T) {
	s := newStage(t)
	log, said, err := s.run("POSTGRES_PASSWORD=secret POSTGRES_DB=squall", "-c max_connections=300")
	if want := firstStart + "postgres -c max_connections=300\n"; err != nil || log != want {
		t.Fatalf("got %s\nwant %s\n%s%v", log, want, said, err)
	}
	s.expectDatabase()
	log, said, err = s.run("", "postgres")
	if err != nil || log != "postgres \n" {
		t.Errorf("started again: %s%s%v", log, said, err)
	}
}

func TestEntrypointSetsUpAnewWhatWasKilled(t *testing.T) {
	s := newStage(t)
	if log, said, err := s.run("POSTGRES_PASSWORD=secret POSTGRES_DB=squall KILLED=yes", "postgres"); err == nil {
		t.Fatalf("it was to be killed: %s%s", log, said)
	}
	if _, err := os.Stat(filepath.Join(s.data, "initialising", "PG_VERSION")); err != nil {
		t.Fatalf("killed too early to show anything: %v", err)
	}
	log, said, err := s.run("POSTGRES_PASSWORD=secret POSTGRES_DB=squall", "postgres")
	if want := firstStart + "postgres \n"; err != nil || log != want {
		t.Fatalf("got %s\nwant %s\n%s%v", log, want, said, err)
	}
	s.expectDatabase()
}

// Killed between the move of the last file and the removal of the directory: the database is complete.
func TestEntrypointKeepsWhatWasComplete(t *testing.T) {
	s := newStage(t)
	if _, said, err := s.run("POSTGRES_PASSWORD=secret", ""); err != nil {
		t.Fatalf("%s%v", said, err)
	}
	if err := os.Mkdir(filepath.Join(s.data, "initialising"), 0o700); err != nil {
		t.Fatal(err)
	}
	log, said, err := s.run("POSTGRES_PASSWORD=secret", "")
	if err != nil || log != "postgres \n" {
		t.Errorf("%s%s%v", log, said, err)
	}
	if _, err := os.Stat(filepath.Join(s.data, "initialising")); err == nil {
		t.Error("the directory is still there")
	}
}

func TestEntrypointRefuses(t *testing.T) {
	tests := []struct {
		name, environment, file, want string
	}{
		{"no password", "", "", "POSTGRES_PASSWORD is not set"},
		{"root", "POSTGRES_PASSWORD=secret ID=0", "", "set runAsUser to 999"},
		{"something else in the directory", "POSTGRES_PASSWORD=secret", "pgdata/precious", "DATA is not empty and no database"},
		{"a file where the volume should be", "POSTGRES_PASSWORD=secret", "pgdata", "cannot write DATA"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			file := filepath.Join(s.dir, "volume", test.file)
			if test.file != "" {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			log, said, err := s.run(test.environment, "")
			if err == nil || log != "" || !strings.Contains(said, test.want) {
				t.Errorf("%v, said %q, want %q\n%s", err, said, test.want, log)
			}
			if _, err := os.Stat(file); test.file != "" && err != nil {
				t.Errorf("what was there is gone: %v", err)
			}
		})
	}
}

func TestEntrypointRunsOtherCommands(t *testing.T) {
	s := newStage(t)
	if _, said, err := s.run("", "echo hello"); err != nil || said != "hello\n" {
		t.Errorf("%q, %v", said, err)
	}
}
