//go:build e2e

package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func docker(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func mustDocker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := docker(t, args...)
	if err != nil {
		t.Fatalf("docker %s: %v\n%s\nno engine? `make engine`", strings.Join(args, " "), err, out)
	}
	return out
}

func TestProgramsStart(t *testing.T) {
	image, err := Programs(t.Context(), Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	mustDocker(t, "load", "--input", image.Archive)
	t.Cleanup(func() { _, _ = docker(t, "image", "rm", image.Ref) })
	for _, name := range bases(programs) {
		// Without settings each of them says what it misses: it could be started, which 125 to 127 would deny (docker-run(1)).
		out, err := docker(t, "run", "--rm", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none", image.Ref, "/"+name)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() >= 125 || out == "" {
			t.Errorf("%s: %v, said %q", name, err, out)
		}
	}
}

// Under the restrictions of the Pod Security Standard "restricted" and with a root file system that cannot be written.
func startPostgres(t *testing.T, image Image) (container string, connect func() *pgx.Conn) {
	t.Helper()
	name := fmt.Sprintf("squall-postgres-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	mustDocker(t, "load", "--input", image.Archive)
	mustDocker(t, "volume", "create", name)
	t.Cleanup(func() {
		_, _ = docker(t, "rm", "--force", name)
		mustDocker(t, "volume", "rm", name)
		_, _ = docker(t, "image", "rm", image.Ref) // refused while another test uses it
	})
	mustDocker(t, "run", "--detach", "--name", name, "--read-only", "--user", fmt.Sprint(PostgresUser), "--cap-drop=ALL", "--security-opt=no-new-privileges",
		"--tmpfs=/var/run/postgresql:mode=1777", "--tmpfs=/tmp", "--volume", name+":/var/lib/postgresql/data", "--publish=127.0.0.1::5432",
		"--env=PGDATA=/var/lib/postgresql/data/pgdata", "--env=POSTGRES_PASSWORD=secret", "--env=POSTGRES_DB=squall", image.Ref, "-c", "max_connections=77")
	return name, func() *pgx.Conn {
		t.Helper()
		deadline := time.Now().Add(2 * time.Minute)
		for {
			address, err := docker(t, "port", name, "5432/tcp") // another one after every start
			if err == nil {
				var conn *pgx.Conn
				if conn, err = pgx.Connect(t.Context(), "postgres://postgres:secret@"+address+"/squall?sslmode=disable"); err == nil {
					t.Cleanup(func() { _ = conn.Close(context.Background()) })
					return conn
				}
			}
			if time.Now().After(deadline) {
				log, _ := docker(t, "logs", name)
				t.Fatalf("Postgres does not answer: %v\n%s", err, log)
			}
			time.Sleep(2 * time.Second)
		}
	}
}

func TestPostgresKeepsWhatItCommittedWhenItIsKilled(t *testing.T) {
	image, err := Postgres(t.Context(), Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	container, connect := startPostgres(t, image)
	conn := connect()
	var version, fsync, connections string
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('server_version_num'), current_setting('fsync'), current_setting('max_connections')").Scan(&version, &fsync, &connections); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version, postgresMajor) || fsync != "on" || connections != "77" {
		t.Errorf("version %s, fsync %s, max_connections %s", version, fsync, connections)
	}
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n"); err != nil {
		t.Fatal(err)
	}
	mustDocker(t, "kill", "--signal=KILL", container)
	mustDocker(t, "start", container)
	var count int
	if err := connect().QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&count); err != nil || count != 1000 {
		t.Errorf("%d rows, %v", count, err)
	}
	refused := strings.Replace(mustDocker(t, "port", container, "5432/tcp"), "0.0.0.0", "127.0.0.1", 1)
	if _, err := pgx.Connect(t.Context(), "postgres://postgres:wrong@"+refused+"/squall?sslmode=disable"); err == nil {
		t.Error("any password will do")
	}
}

func TestPostgresKilledDuringItsFirstStart(t *testing.T) {
	image, err := Postgres(t.Context(), Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	container, connect := startPostgres(t, image)
	for _, wait := range []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second} {
		time.Sleep(wait)
		mustDocker(t, "kill", "--signal=KILL", container)
		mustDocker(t, "start", container)
	}
	var name string
	if err := connect().QueryRow(t.Context(), "SELECT current_database()").Scan(&name); err != nil || name != "squall" {
		t.Errorf("database %q, %v", name, err)
	}
}

func TestPlantedIsAnotherImage(t *testing.T) {
	plain, err := Programs(t.Context(), Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	planted, err := Programs(t.Context(), Options{Planted: true, Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	if plain.Ref == planted.Ref || plain.Archive == planted.Archive {
		t.Errorf("one image for both: %v", plain)
	}
	again, err := Programs(t.Context(), Options{})
	if err != nil || again != plain {
		t.Errorf("the plain one is now %v, was %v (%v)", again, plain, err)
	}
}
