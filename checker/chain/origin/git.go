package origin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// patience is how long git may take to answer, a fetch included.
const patience = 2 * time.Minute

// repository is a tree of a git repository at a commit. Files are read from git's objects, whatever is checked out.
type repository struct {
	dir    string // of the repository
	shown  string // how messages name it
	within bool   // shown names the folder, too
	sub    string
	blobs  map[string]string // object names by file name
	names  []string
	fetch  *batch
	temp   string // to be removed with it
}

var scheme = regexp.MustCompile(`^(https|http|ssh|git|file)://|^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:`)

// remote tells whether the text is the address of a repository and not a path.
func remote(where string) bool { return scheme.MatchString(where) }

func openRepository(ctx context.Context, dir, ref, sub string) (Tree, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no directory %s", dir)
	}
	if _, err := git(ctx, dir, "rev-parse", "--git-dir"); err != nil {
		return nil, notARepository(dir, err)
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, missing(ctx, dir, ref)
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix") // dir may be a folder of its repository
	if err != nil {
		prefix = nil // a bare one
	}
	r := &repository{dir: dir, shown: dir + "#" + ref, sub: path.Join(strings.TrimSpace(string(prefix)), sub)}
	return r, r.list(ctx, strings.TrimSpace(string(commit)), sub)
}

func notARepository(dir string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("git is not installed: a reference of another repository needs it")
	}
	return fmt.Errorf("%s is not in a git repository", dir)
}

// missing says that there is no such reference, and which was perhaps meant.
func missing(ctx context.Context, dir, ref string) error {
	hint := ""
	if all, err := git(ctx, dir, "for-each-ref", "--format=%(refname:short)", "--count=12", "refs/heads", "refs/tags", "refs/remotes"); err == nil {
		if names := strings.Fields(string(all)); len(names) > 0 {
			hint = "; there are " + strings.Join(names, ", ")
		}
	}
	return fmt.Errorf("%s has no reference %q%s", dir, ref, hint)
}

// openRemote fetches one commit of a repository elsewhere, for as long as the tree is open.
func openRemote(ctx context.Context, url, ref, sub string) (Tree, error) {
	temp, err := os.MkdirTemp("", "squall-input-")
	if err != nil {
		return nil, err
	}
	tree, err := fetched(ctx, temp, url, ref, sub)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(temp))
	}
	return tree, nil
}

func fetched(ctx context.Context, temp, url, ref, sub string) (Tree, error) {
	if _, err := git(ctx, temp, "init", "--quiet", "--bare"); err != nil {
		return nil, notARepository(temp, err)
	}
	if _, err := git(ctx, temp, "fetch", "--quiet", "--depth=1", "--no-tags", "--end-of-options", url, ref); err != nil {
		return nil, fmt.Errorf("cannot fetch %s of %s: %w", ref, url, err)
	}
	r := &repository{dir: temp, shown: url + "#" + ref, sub: path.Clean("/" + sub)[1:], temp: temp}
	return r, r.list(ctx, "FETCH_HEAD", sub)
}

// list reads the names of all files below the folder.
func (r *repository) list(ctx context.Context, commit, sub string) error {
	out, err := git(ctx, r.dir, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return err
	}
	r.blobs = map[string]string{}
	for _, entry := range strings.Split(string(out), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		words := strings.Fields(about)
		if !ok || len(words) < 3 || words[1] != "blob" || words[0] == "120000" {
			continue
		}
		if r.sub != "" {
			if name, ok = strings.CutPrefix(name, r.sub+"/"); !ok {
				continue
			}
		}
		r.blobs[name] = words[2]
		r.names = append(r.names, name)
	}
	if len(r.names) == 0 {
		return fmt.Errorf("%s has no files below %q", r.shown, r.sub)
	}
	if sub != "" {
		r.shown, r.within = r.shown+":"+path.Clean(sub), true
	}
	slices.Sort(r.names)
	return nil
}

func (r *repository) Names() ([]string, error) { return r.names, nil }
func (r *repository) Local() bool              { return false }

func (r *repository) Show(name string) string {
	if r.within {
		return filepath.ToSlash(r.shown) + "/" + name
	}
	return filepath.ToSlash(r.shown) + ":" + name
}

func (r *repository) Read(name string) ([]byte, error) {
	blob, ok := r.blobs[path.Clean(name)]
	if !ok {
		return nil, fmt.Errorf("there is no file %s: %w", r.Show(name), os.ErrNotExist)
	}
	if r.fetch == nil {
		b, err := startBatch(r.dir)
		if err != nil {
			return nil, err
		}
		r.fetch = b
	}
	return r.fetch.read(blob)
}

func (r *repository) Close() error {
	var err error
	if r.fetch != nil {
		err = r.fetch.close()
	}
	if r.temp != "" {
		err = errors.Join(err, os.RemoveAll(r.temp))
	}
	return err
}

// batch is one git that reads many objects: a thousand processes would take seconds.
type batch struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startBatch(dir string) (*batch, error) {
	cmd := exec.Command("git", "-C", dir, "cat-file", "--batch")
	cmd.Env = quietly()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &batch{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (b *batch) read(blob string) ([]byte, error) {
	if _, err := fmt.Fprintln(b.in, blob); err != nil {
		return nil, err
	}
	header, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	words := strings.Fields(header)
	if len(words) != 3 {
		return nil, fmt.Errorf("git has no object %s: %s", blob, strings.TrimSpace(header))
	}
	size, err := strconv.Atoi(words[2])
	if err != nil || size > maxBytes {
		return nil, fmt.Errorf("an object of %s bytes; the limit is %d", words[2], maxBytes)
	}
	data := make([]byte, size+1) // a line break follows
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, err
	}
	return data[:size], nil
}

func (b *batch) close() error {
	_ = b.in.Close()
	return b.cmd.Wait()
}

// quietly is an environment in which git asks nobody for a password, and goes by the directory that it is given: in a hook
// the environment names another repository.
func quietly() []string {
	environment := slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
	})
	return append(environment, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = quietly()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			return nil, fmt.Errorf("git %s: %s: %w", args[0], text, err)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

// OpenAt is Open, but for a directory of the repository that base is in: of that, the files at the reference are opened.
func OpenAt(ctx context.Context, base, from, ref string) (Tree, error) {
	if strings.Contains(from, "#") {
		return Open(ctx, base, from)
	}
	dir := join(base, from)
	mine, err := git(ctx, join(base, "."), "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, notARepository(base, err)
	}
	theirs, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil || !bytes.Equal(mine, theirs) {
		return Open(ctx, base, from)
	}
	return openRepository(ctx, dir, ref, "")
}
