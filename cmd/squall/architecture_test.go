package main

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/squall-chaos/squall"

// mayImport is the house's floor plan: which of our own packages each package may import, tests aside. A
// package stands for those below it unless they have a line of their own.
var mayImport = map[string][]string{
	"dispatcher":                  {},
	"dispatcher/memory":           {"dispatcher"},
	"dispatcher/dispatchertest":   {"dispatcher"},
	"dispatcher/planted":          {"dispatcher"},
	"dispatcher/hostclock":        {"dispatcher"},
	"dispatcher/metrics":          {"dispatcher"},
	"dispatcher/manifests":        {},
	"dispatcher/postgres":         {"dispatcher"},
	"dispatcher/kube":             {"dispatcher", "dispatcher/kube/environment"},
	"dispatcher/kube/environment": {"dispatcher"},

	"checker/history":    {},
	"checker/linearize":  {"checker/history"},
	"checker/synthetic":  {"checker/history"},
	"checker":            {"checker/history", "checker/linearize"},
	"checker/strictyaml": {"checker/history"},
	"checker/chain":      {"checker/strictyaml", "checker/history", "dispatcher"},

	"clusters":                       {"dispatcher", "checker/history"},
	"clusters/sim/kernel":            {},
	"clusters/sim/kernel/digesttest": {"clusters/sim/kernel"},
	"clusters/sim":                   {"clusters", "clusters/sim/kernel", "dispatcher", "dispatcher/memory", "checker/history"},
	"clusters/binaries":              {},
	"clusters/local":                 {"clusters/binaries"},
	"clusters/journal":               {"clusters", "dispatcher", "checker/history"},
	"clusters/calibration":           {"clusters", "checker/history"},
	"clusters/journal/rowlog":        {"clusters", "clusters/journal", "dispatcher", "checker/history"},
	"clusters/journal/deposit":       {"clusters/journal"},
	"clusters/kind/engine":           {"clusters/binaries"},
	"clusters/kind/images":           {"clusters/binaries"},
	"clusters/kind/nodeimage":        {"clusters/binaries"},
	"clusters/kind/testbed":          {"clusters"},
	"clusters/kind":                  append(slices.Clone(recorded), "clusters/deployed", "clusters/kind/images", "clusters/kind/testbed"),
	"clusters/shared":                append(slices.Clone(recorded), "clusters/deployed", "faults/proxy"),
	"clusters/deployed":              append(slices.Clone(recorded), "clusters/kind/images", "faults/proxy"),
	// The fault proxy carries out a clusters.Rule and knows nothing of plans, which is what package faults is about; so a world may
	// hold its remote control. It lives with the faults because any cluster's dispatcher can be put behind it, with no world at all.
	"faults/proxy": {"clusters", "checker/history"},

	"faults": {"clusters", "dispatcher", "checker/history"},
	// Faults as objects of Chaos Mesh. The table of what it can express is apart: the plain command line prints it, and has no client.
	"faults/chaosmesh":          {"faults", "faults/chaosmesh/coverage", "clusters", "checker/history"},
	"faults/chaosmesh/coverage": {"faults", "clusters"},
	// A real Chaos Mesh in a cluster of the testbed, for tests; no program that is shipped has it.
	"faults/chaosmesh/installation": {"faults/chaosmesh", "clusters/binaries", "clusters/kind/images", "clusters/kind/testbed"},

	"scenarios":            {"faults", "clusters", "checker", "checker/strictyaml", "checker/history", "dispatcher", "dispatcher/planted"},
	"scenarios/reduction":  {"scenarios", "faults", "clusters", "checker", "dispatcher"},
	"scenarios/causes":     {"scenarios", "faults", "clusters", "checker", "checker/history", "dispatcher"},
	"scenarios/explore":    {"scenarios", "faults", "clusters", "checker", "checker/history", "dispatcher"},
	"scenarios/experiment": {"scenarios", "faults", "clusters", "checker", "checker/history", "dispatcher"},
	"reports":              {"scenarios", "scenarios/causes", "scenarios/experiment", "faults", "clusters", "clusters/calibration", "checker", "checker/history", "dispatcher", "dispatcher/planted"},

	"reports/findings": {"checker/chain", "dispatcher"},

	"cmd/squall": {"reports", "reports/findings", "checker/chain", "scenarios", "scenarios/causes", "scenarios/experiment", "scenarios/explore", "scenarios/reduction", "faults", "faults/chaosmesh/coverage", "clusters", "clusters/calibration", "clusters/sim", "clusters/sim/kernel", "checker", "checker/history", "dispatcher",
		"dispatcher/planted", "dispatcher/manifests"},
	tagged("cmd/squall"): {"scenarios", "faults", "faults/chaosmesh", "faults/chaosmesh/coverage", "clusters", "clusters/kind", "clusters/kind/engine", "clusters/kind/images", "clusters/kind/nodeimage",
		"clusters/kind/testbed", "clusters/deployed", "clusters/shared", "dispatcher/manifests"},
	"cmd/internal/record":  {"clusters/journal", "clusters/journal/deposit", "dispatcher/kube/environment"},
	"cmd/internal/system":  {"dispatcher", "dispatcher/kube/environment", "dispatcher/planted"},
	"cmd/internal/replica": append(slices.Clone(program), "dispatcher/kube", "dispatcher/metrics"),
	"cmd/dispatcher":       {"cmd/internal/replica", "dispatcher"},
	"cmd/reconciler":       {"cmd/internal/replica", "dispatcher"},
	"cmd/worker":           program,
	"cmd/faultproxy":       {"faults/proxy"},
}

var (
	// recorded is what a world of real processes is made of: the adapters that they run on, and the journals that they keep.
	recorded = []string{"clusters", "clusters/journal", "clusters/journal/deposit", "clusters/journal/rowlog", "checker/history", "dispatcher", "dispatcher/hostclock",
		"dispatcher/kube", "dispatcher/kube/environment", "dispatcher/manifests", "dispatcher/postgres"}
	// program is what runs in a cluster and keeps a journal of it.
	program = []string{"cmd/internal/record", "cmd/internal/system", "clusters/journal", "clusters/journal/deposit", "checker/history", "dispatcher", "dispatcher/hostclock",
		"dispatcher/kube/environment", "dispatcher/postgres"}
)

// What takes long to compile. The first verdict waits for none of it.
const (
	kubernetes = "k8s.io/"
	kindest    = "sigs.k8s.io/"
	postgres   = "github.com/jackc/pgx"
	registries = "github.com/google/go-containerregistry"
	prometheus = "github.com/prometheus/"
	chaosMesh  = "github.com/chaos-mesh/"
)

var heavy = []string{kubernetes, kindest, postgres, registries, prometheus, chaosMesh}

// adapters are the packages that may have them, each its own. Who imports a package gets what it brings: so the simulation and
// cmd/squall get none, but for the files with the build tag kind, and what runs in a workload has no client of the API server.
var adapters = map[string][]string{
	"dispatcher/postgres":           {postgres},
	"dispatcher/kube":               {kubernetes},
	"dispatcher/kube/environment":   {},
	"dispatcher/metrics":            {prometheus},
	"clusters/local":                {kubernetes},
	"clusters/journal/rowlog":       {postgres},
	"clusters/journal/deposit":      {postgres},
	"cmd/internal/record":           {postgres},
	"clusters/deployed":             {kubernetes, postgres, registries},
	"clusters/shared":               {kubernetes, postgres, registries},
	"clusters/kind":                 {kubernetes, kindest, postgres, registries},
	"clusters/kind/engine":          {},
	"clusters/kind/images":          {registries},
	"clusters/kind/nodeimage":       {kindest, registries},
	"clusters/kind/testbed":         {kubernetes, kindest},
	"faults/proxy":                  {kubernetes, postgres},
	"faults/chaosmesh":              {kubernetes, kindest, chaosMesh},
	"faults/chaosmesh/coverage":     {},
	"faults/chaosmesh/installation": {kubernetes, kindest, registries, chaosMesh},
	tagged("cmd/squall"):            {kubernetes, kindest, postgres, registries, chaosMesh},
	"cmd/internal/system":           {postgres},
	"cmd/internal/replica":          {kubernetes, postgres, prometheus},
	"cmd/dispatcher":                {kubernetes, postgres, prometheus},
	"cmd/reconciler":                {kubernetes, postgres, prometheus},
	"cmd/worker":                    {postgres},
	"cmd/faultproxy":                {kubernetes, postgres},
}

// tagged names those files of a package that only a build with the world kind has.
func tagged(pkg string) string { return pkg + " with kind" }

type source struct {
	pkg   string // relative to the module
	files []*ast.File
}

// One file set for all packages.
var fset = token.NewFileSet()

// goList asks the go command for packages of the module and all that they import.
func goList(args ...string) []string {
	cmd := exec.Command("go", append([]string{"list", "-e", "-deps"}, args...)...)
	cmd.Dir = filepath.Join("..", "..")
	text, err := cmd.Output()
	if err != nil {
		panic(fmt.Sprintf("go list: %v", err))
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		for _, problem := range checkImports(s) {
			t.Error(problem)
		}
	}
}

// TestImportsBringNothingHeavy asks the compiler's own list, which has the imports of other people's packages too.
func TestImportsBringNothingHeavy(t *testing.T) {
	for _, pkg := range []string{"cmd/squall", "cmd/worker"} {
		for _, name := range tooHeavy(pkg, goList("./"+pkg)) {
			t.Errorf("%s comes to depend on %s; go mod why -m tells how", pkg, name)
		}
	}
	if len(tooHeavy("cmd/worker", goList("./cmd/dispatcher"))) == 0 {
		t.Error("what a dispatcher depends on would do for a worker: the test looks for the wrong thing")
	}
}

// TestFloorPlanNamesWhatIsThere finds lines of packages that are gone: they would allow what nobody looks at.
func TestFloorPlanNamesWhatIsThere(t *testing.T) {
	there := map[string]bool{}
	for _, s := range sources(t) {
		for p := s.pkg; p != "."; p = path.Dir(p) {
			there[p] = true
		}
	}
	for pkg, allowed := range mayImport {
		for _, name := range append([]string{pkg}, allowed...) {
			if _, planned := mayImport[name]; !there[name] || !planned {
				t.Errorf("mayImport[%q] names %s, which is no package with a line of its own", pkg, name)
			}
		}
	}
	for pkg := range adapters {
		if _, planned := mayImport[pkg]; !planned {
			t.Errorf("adapters names %s, which is not in mayImport", pkg)
		}
	}
}

// TestArchitectureChecksCanFail plants one defect of each kind.
func TestArchitectureChecksCanFail(t *testing.T) {
	const own = "import _ \"" + module + "/"
	for _, c := range []struct{ name, pkg, code string }{
		{"reversed arrow", "dispatcher", own + `clusters"`},
		{"reports imported", "scenarios", own + `reports"`},
		{"no place in the plan", "elsewhere", ""},
		{"a line of its own is not its parent's", "clusters/journal", own + `clusters/sim"`},
		{"one world in another", "clusters/kind", own + `clusters/local"`},
		{"a run in the testbed", "clusters/kind/testbed", own + `clusters/kind"`},
		{"faults in the testbed", "clusters/kind/testbed", own + `faults/proxy"`},
		{"the proxy knows plans", "faults/proxy", own + `faults"`},
		{"plans know the proxy", "faults", own + `faults/proxy"`},
		{"the proxy in a program", "cmd/dispatcher", own + `faults/proxy"`},
		{"reports in a program", "cmd/worker", own + `reports"`},
		{"kind in the plain command line", "cmd/squall", own + `clusters/kind/testbed"`},
		{"adapter in the command line", "cmd/squall", own + `dispatcher/postgres"`},
		{"heavy dependency", "faults", `import _ "k8s.io/api/core/v1"`},
		{"heavy dependency of the command line", "cmd/squall", `import _ "sigs.k8s.io/kind/pkg/cluster"`},
		{"heavy dependency of a worker", "cmd/worker", `import _ "k8s.io/client-go/kubernetes"`},
		{"heavy dependency of a worker's environment", "dispatcher/kube/environment", `import _ "k8s.io/api/core/v1"`},
		{"heavy dependency of an adapter's neighbour", "dispatcher", `import _ "github.com/jackc/pgx/v5"`},
		{"heavy dependency of another adapter", "dispatcher/postgres", `import _ "k8s.io/api/core/v1"`},
		{"heavy dependency of a light part of kind", "clusters/kind/engine", `import _ "k8s.io/api/core/v1"`},
		{"goroutine", "dispatcher", `func f() { go f() }`},
		{"channel", "faults", `var c chan int`},
		{"select", "dispatcher", `func f() { select {} }`},
		{"clock", "clusters/sim", "import \"time\"\nvar t = time.Now()"},
		{"sync", "dispatcher/memory", `import _ "sync"`},
		{"chance in a loop", "dispatcher", `import _ "math/rand/v2"`},
		{"map order", "dispatcher", "var m map[int]int\nfunc f() { for k := range m { _ = k } }"},
	} {
		s := parse(t, c.pkg, "package x\n"+c.code)
		found := append(checkImports(s), checkSequential(s)...)
		if found = append(found, checkMapRanges(t, s)...); len(found) == 0 {
			t.Errorf("%s: not noticed", c.name)
		}
	}
}

// TestArchitectureAllows shows that what is refused above is not refused everywhere.
func TestArchitectureAllows(t *testing.T) {
	for pkg, code := range map[string]string{
		tagged("cmd/squall"):   `import _ "sigs.k8s.io/kind/pkg/cluster"; import _ "` + module + `/clusters/kind/testbed"`,
		"clusters/deployed":    `import _ "` + module + `/faults/proxy"`,
		"clusters/sim/kernel":  `import _ "container/heap"`,
		"clusters/journal/sub": `import _ "` + module + `/clusters/journal"`, // part of its parent, as it has no line
	} {
		if problems := checkImports(parse(t, pkg, "package x\n"+code)); len(problems) > 0 {
			t.Errorf("%s: %q", pkg, problems)
		}
	}
}

// TestFloorPlanIsLight: an import that the plan allows brings nothing that its importer may not have.
func TestFloorPlanIsLight(t *testing.T) {
	for pkg, allowed := range mayImport {
		for _, name := range allowed {
			if extra := brings(pkg, name); len(extra) > 0 {
				t.Errorf("%s may import %s, which brings %q", pkg, name, extra)
			}
		}
	}
	if len(brings("cmd/worker", "dispatcher/kube")) == 0 || len(brings("cmd/squall", "clusters/kind")) == 0 {
		t.Error("a client of the API server in a worker, or kind in the plain command line, was not noticed")
	}
}

// brings is what a package may not have and would get from importing another of ours.
func brings(pkg, imported string) []string {
	return slices.DeleteFunc(slices.Clone(lineFor(adapters, imported)), func(dependency string) bool {
		return slices.Contains(lineFor(adapters, pkg), dependency)
	})
}

// tooHeavy are those of the names that the package may not depend on.
func tooHeavy(pkg string, names []string) []string {
	var found []string
	for _, name := range names {
		for _, h := range heavy {
			if strings.HasPrefix(name, h) && !slices.Contains(lineFor(adapters, pkg), h) {
				found = append(found, name)
			}
		}
	}
	return found
}

func checkImports(s source) []string {
	allowed := lineFor(mayImport, s.pkg)
	if allowed == nil {
		return []string{fmt.Sprintf("package %s has no place in the floor plan: add it to mayImport", s.pkg)}
	}
	var problems []string
	for _, file := range s.files {
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			where := fset.Position(spec.Pos())
			if own, isOwn := strings.CutPrefix(name, module+"/"); isOwn && !slices.Contains(append([]string{lineOf(mayImport, s.pkg)}, allowed...), lineOf(mayImport, own)) {
				problems = append(problems, fmt.Sprintf("%s: %s may not import %s", where, s.pkg, own))
			}
			for range tooHeavy(s.pkg, []string{name}) {
				problems = append(problems, fmt.Sprintf("%s: %s may not import %s: it slows the first verdict, or does not belong there", where, s.pkg, name))
			}
		}
	}
	return problems
}

// lineOf is the package whose line stands for a package in a plan: itself, or the nearest package above; "." if there is none.
func lineOf(plan map[string][]string, pkg string) string {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if _, ok := plan[pkg]; ok {
			break
		}
	}
	return pkg
}

func lineFor(plan map[string][]string, pkg string) []string { return plan[lineOf(plan, pkg)] }

func parse(t *testing.T, pkg, code string) source {
	t.Helper()
	file, err := parser.ParseFile(fset, "planted.go", code, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{pkg: pkg, files: []*ast.File{file}}
}

// sources parses every package of the module, without its tests. Files that only a build with kind has are a source of their own.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	byName := map[string]*source{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || otherModule(file)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(dir)
		if onlyWithKind(parsed) {
			pkg = tagged(pkg)
		}
		if byName[pkg] == nil {
			byName[pkg] = &source{pkg: pkg}
		}
		byName[pkg].files = append(byName[pkg].files, parsed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []source
	for _, pkg := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, *byName[pkg])
	}
	return all
}

// otherModule tells whether the directory holds a module of its own, be it one that package binaries embeds.
func otherModule(dir string) bool {
	for _, name := range []string{"go.mod", "go.mod.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// onlyWithKind tells whether no build without the tag kind has the file, whatever other tags it has.
func onlyWithKind(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, line := range group.List {
			if group.Pos() > file.Package || !constraint.IsGoBuild(line.Text) {
				continue
			}
			expr, err := constraint.Parse(line.Text)
			if err != nil {
				return false // the build says so
			}
			bare := expr.Eval(func(string) bool { return false })
			return !bare && !expr.Eval(func(tag string) bool { return tag != "kind" })
		}
	}
	return false
}

func TestFloorPlanKnowsBuildTags(t *testing.T) {
	for condition, want := range map[string]bool{
		"kind": true, "kind && linux": true, "!kind": false, "kind || e2e": false, "planted": false, "!planted": false, "ignore": false,
	} {
		file := parse(t, "x", "//go:build "+condition+"\n\npackage x").files[0]
		if got := onlyWithKind(file); got != want {
			t.Errorf("%s: only with kind: %t, want %t", condition, got, want)
		}
	}
}
