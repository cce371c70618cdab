package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

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

// dependencies imports what the build has compiled already: to type-check every dependency from source takes half a minute.
var dependencies = sync.OnceValue(func() types.Importer {
	exports := map[string]string{}
	args := []string{"-export", "-f", "{{.ImportPath}}={{.Export}}"}
	for _, pkg := range ordered {
		args = append(args, "./"+pkg)
	}
	for _, line := range goList(args...) {
		name, file, _ := strings.Cut(line, "=")
		exports[name] = file
	}
	return importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(exports[name]) })
})
