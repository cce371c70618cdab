package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/squall-chaos/squall"

// mayImport is the house's floor plan: which of our own packages each package may import, tests aside. A
// package stands for those below it unless they have a line of their own.
var mayImport = map[string][]string{
	"dispatcher":                {},
	"dispatcher/memory":         {"dispatcher"},
	"dispatcher/dispatchertest": {"dispatcher"},
	"dispatcher/planted":        {"dispatcher"},
	"dispatcher/postgres":       {"dispatcher"},
	"dispatcher/kube":           {"dispatcher"},
	"checker/history":           {},
	"checker/linearize":         {"checker/history"},
	"checker":                   {"checker/history", "checker/linearize"},
	"clusters":                  {"dispatcher", "checker/history"},
	"clusters/sim/kernel":       {},
	"clusters/sim":              {"clusters", "clusters/sim", "dispatcher", "checker/history"},
	"clusters/local":            {"clusters", "clusters/local", "dispatcher", "checker/history"},
	"faults":                    {"clusters", "dispatcher", "checker/history"},
	"scenarios":                 {"faults", "clusters", "checker", "dispatcher"},
	"reports":                   {"reports", "scenarios", "faults", "clusters", "checker", "dispatcher"},
	"cmd":                       {"cmd", "reports", "scenarios", "faults", "clusters", "checker", "dispatcher"},
}

// heavy are dependencies that would make the first verdict slow to compile, and our packages that bring them.
var heavy = []string{"k8s.io/", "sigs.k8s.io/", "github.com/jackc/pgx", "github.com/chaos-mesh/", module + "/dispatcher/postgres",
	module + "/dispatcher/kube", module + "/clusters/local"}

// adapters are the packages that may have them, each its own: no package of the simulation, nor cmd/squall, imports one.
var adapters = map[string][]string{
	"dispatcher/postgres": {"github.com/jackc/pgx", module + "/dispatcher/postgres"},
	"dispatcher/kube":     {"k8s.io/", module + "/dispatcher/kube"},
	"clusters/local":      {"k8s.io/", module + "/clusters/local"},
	// What runs in a workload needs no client of the API server.
	"dispatcher/kube/environment": {},
}

// sequential are the packages whose code runs inside the simulation: their code may neither be concurrent nor ask the
// machine for time or chance. loops are those of them that may not even draw from a generator they are given.
var (
	sequential = []string{"dispatcher", "dispatcher/memory", "dispatcher/planted", "faults", "clusters/sim", "clusters/sim/kernel",
		"clusters/sim/kubernetes", "clusters/sim/postgres"}
	loops = []string{"dispatcher", "dispatcher/memory", "dispatcher/planted"}
	// ordered may not let the order of a map reach behaviour.
	ordered = append(slices.Clone(sequential), "scenarios")
)

// bannedCalls are refused in sequential packages, as package.Function.
var bannedCalls = []string{"time.Now", "time.Sleep", "time.After", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.Tick",
	"time.Since", "time.Until", "context.WithTimeout", "context.WithDeadline", "os.Getenv"}

// bannedImports are refused in sequential packages; more so in loops.
var (
	bannedImports     = []string{"sync", "sync/atomic", "net", "net/http", "os/exec", "crypto/rand", "math/rand", "testing/synctest"}
	bannedLoopImports = []string{"math/rand/v2", "iter"}
)

type source struct {
	pkg   string // relative to the module
	files []*ast.File
}

// One file set for all packages.
var fset = token.NewFileSet()

// dependencies imports what the build has compiled already: to type-check every dependency from source takes half a minute.
var dependencies = sync.OnceValue(func() types.Importer {
	exports := map[string]string{}
	list := exec.Command("go", "list", "-e", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "./...")
	list.Dir = filepath.Join("..", "..")
	text, err := list.Output()
	if err != nil {
		panic(fmt.Sprintf("go list: %v", err))
	}
	for line := range strings.Lines(string(text)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[name] = file
	}
	return importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
})

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		for _, problem := range checkImports(s) {
			t.Error(problem)
		}
	}
}

func TestSimulatedCodeIsSequential(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(sequential, s.pkg) {
			for _, problem := range checkSequential(s) {
				t.Error(problem)
			}
		}
	}
}

func TestNoMapOrderReachesTheSimulation(t *testing.T) {
	for _, s := range sources(t) {
		if slices.Contains(ordered, s.pkg) {
			for _, problem := range checkMapRanges(t, s) {
				t.Error(problem)
			}
		}
	}
}

// TestArchitectureChecksCanFail plants one defect of each kind.
func TestArchitectureChecksCanFail(t *testing.T) {
	for _, c := range []struct{ name, pkg, code string }{
		{"reversed arrow", "dispatcher", `import _ "github.com/squall-chaos/squall/clusters"`},
		{"reports imported", "scenarios", `import _ "github.com/squall-chaos/squall/reports"`},
		{"heavy dependency", "faults", `import _ "k8s.io/api/core/v1"`},
		{"heavy dependency of a worker", "dispatcher/kube/environment", `import _ "k8s.io/api/core/v1"`},
		{"heavy dependency of an adapter's neighbour", "dispatcher", `import _ "github.com/jackc/pgx/v5"`},
		{"heavy dependency of another adapter", "dispatcher/postgres", `import _ "k8s.io/api/core/v1"`},
		{"adapter in the command line", "cmd/squall", `import _ "github.com/squall-chaos/squall/dispatcher/postgres"`},
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
			if own, isOwn := strings.CutPrefix(name, module+"/"); isOwn && !within(own, allowed) && !within(own, []string{s.pkg}) {
				problems = append(problems, fmt.Sprintf("%s: %s may not import %s", where, s.pkg, own))
			}
			for _, h := range heavy {
				if strings.HasPrefix(name, h) && !slices.Contains(lineFor(adapters, s.pkg), h) {
					problems = append(problems, fmt.Sprintf("%s: %s may not import %s: it slows the first verdict", where, s.pkg, name))
				}
			}
		}
	}
	return problems
}

// lineFor finds a plan's line for a package: its own, or that of the nearest package above.
func lineFor(plan map[string][]string, pkg string) []string {
	for p := pkg; p != "."; p = path.Dir(p) {
		if line, ok := plan[p]; ok {
			return line
		}
	}
	return nil
}

func within(pkg string, roots []string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return pkg == r || strings.HasPrefix(pkg, r+"/") })
}

func checkSequential(s source) []string {
	var problems []string
	report := func(n ast.Node, what string) {
		problems = append(problems, fmt.Sprintf("%s: %s in code that runs inside the simulation", fset.Position(n.Pos()), what))
	}
	for _, file := range s.files {
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if slices.Contains(bannedImports, name) || (slices.Contains(loops, s.pkg) && slices.Contains(bannedLoopImports, name)) {
				report(spec, "import of "+name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				report(n, "go statement")
			case *ast.ChanType:
				report(n, "channel")
			case *ast.SelectStmt:
				report(n, "select")
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && slices.Contains(bannedCalls, x.Name+"."+n.Sel.Name) {
					report(n, x.Name+"."+n.Sel.Name)
				}
			}
			return true
		})
	}
	return problems
}

// checkMapRanges finds ranges over maps. One whose order cannot matter is marked "order does not matter" with the reason in
// a comment on the line before.
func checkMapRanges(t *testing.T, s source) []string {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: dependencies(), Error: func(error) {}}
	_, _ = config.Check(s.pkg, fset, s.files, info) // errors show in the build
	var problems []string
	for _, file := range s.files {
		excused := excusedLines(file)
		ast.Inspect(file, func(n ast.Node) bool {
			r, ok := n.(*ast.RangeStmt)
			if !ok || info.Types[r.X].Type == nil {
				return true
			}
			where := fset.Position(r.Pos())
			if _, isMap := info.Types[r.X].Type.Underlying().(*types.Map); isMap && !excused[where.Line-1] {
				problems = append(problems, fmt.Sprintf("%s: range over a map: its order differs from run to run", where))
			}
			return true
		})
	}
	return problems
}

func excusedLines(file *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range file.Comments {
		if strings.Contains(group.Text(), "order does not matter") {
			lines[fset.Position(group.End()).Line] = true
		}
	}
	return lines
}

func parse(t *testing.T, pkg, code string) source {
	t.Helper()
	file, err := parser.ParseFile(fset, "planted.go", code, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{pkg: pkg, files: []*ast.File{file}}
}

// sources parses every package of the module, without its tests.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	byDir := map[string]*source{}
	var dirs []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		s := byDir[rel]
		if s == nil {
			s = &source{pkg: filepath.ToSlash(rel)}
			byDir[rel] = s
			dirs = append(dirs, rel)
		}
		code, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(fset, file, code, parser.ParseComments)
		s.files = append(s.files, parsed)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]source, len(dirs))
	for i, dir := range dirs {
		all[i] = *byDir[dir]
	}
	return all
}
