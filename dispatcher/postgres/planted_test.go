package postgres

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// defect is one thing wrong with the statements: what of them is replaced by what. It is planted on the wire of
// a child process that runs one case of the suite.
type defect struct{ from, to, caught string }

// A condition that is taken away keeps its parameter, or the statement would not be one.
var defects = []defect{
	{`AND epoch = (\$\d+)`, `AND $1::bigint IS NOT NULL`, "TestStore/fence/every_leader_write"},
	{`AND epoch = (\$\d+)`, `AND $1::bigint IS NOT NULL`, "TestStore/fence/a_claim"},
	{`AND t\.version = (\$\d+)`, `AND $1::bigint IS NOT NULL`, "TestStore/fence/every_leader_write"},
	{`t\.token = (\$\d+) AND t\.version`, `$1::bigint IS NOT NULL AND t.version`, "TestStore/fence/every_leader_write"},
	{`t\.token = (\$\d+) AND t\.phase`, `$1::bigint IS NOT NULL AND t.phase`, "TestStore/start/a_superseded_attempt_is_refused"},
	{`AND t\.desired = 'run'`, ``, "TestStore/cancel/is_not_overtaken_by_a_success"},
	{`AND \(t\.workload = '' OR t\.workload = \$\d+\)`, ``, "TestStore/start/one_object_per_attempt"},
	{`AND due_at <= \(SELECT now FROM clock\)`, ``, "TestStore/claim/waits_for_the_backoff_and_for_the_cleanup"},
	{`failures >= most_failures`, `failures > most_failures`, "TestStore/budget/the_last_failure_stops_the_task"},
	{`, finished_token = t\.token`, ``, "TestStore/finish/a_success_is_final"},
	{`SELECT role FROM leadership (.*) FOR NO KEY UPDATE`, `SELECT role FROM leadership $1`, "TestClaimsCountOneAfterTheOther"},
	{`SELECT role FROM leadership (.*) FOR SHARE`, `SELECT role FROM leadership $1`, "TestNoWriteOfAnOldTermLandsInTheNext"},
	{`FOR UPDATE SKIP LOCKED`, `FOR UPDATE`, "TestClaimSkipsLockedRows"},
	{`WHERE t.id = (\$\d+) FOR UPDATE`, `WHERE t.id = $1`, "TestStampsFollowTheLock"},
	{`ORDER BY due_at, id`, `ORDER BY id`, "TestStore/claim/the_longest_due_comes_first,_up_to_the_limit"},
}

// What a child needs to know.
const plantFrom, plantTo = "SQUALL_TEST_PLANT_FROM", "SQUALL_TEST_PLANT_TO"

func TestEachPlantedDefectIsCaught(t *testing.T) {
	t.Parallel()
	for _, d := range defects {
		t.Run(d.from+" is caught by "+d.caught, func(t *testing.T) {
			t.Parallel()
			only := "^" + strings.ReplaceAll(regexp.QuoteMeta(d.caught), "/", "$/^") + "$"
			child := exec.Command(os.Args[0], "-test.run", only)
			child.Env = append(os.Environ(), "DATABASE_URL="+server, plantFrom+"="+d.from, plantTo+"="+d.to)
			output, err := child.CombinedOutput()
			if err == nil {
				t.Fatalf("the case passed:\n%s", output)
			}
			if strings.Contains(string(output), "SQLSTATE") || !strings.Contains(string(output), "--- FAIL: "+d.caught) {
				t.Fatalf("the case failed for another reason:\n%s", output)
			}
		})
	}
}

// plant spoils the statements of a store if this is a child that should.
func plant(c *pgxpool.Config) {
	if edit := planted(); edit != nil {
		(&wire{edit: edit}).install(c)
	}
}

// planted returns what spoils them, or nil.
func planted() func(sql string) string {
	from, to := os.Getenv(plantFrom), os.Getenv(plantTo)
	if from == "" {
		return nil
	}
	what := regexp.MustCompile(from)
	return func(sql string) string { return what.ReplaceAllString(sql, to) }
}
