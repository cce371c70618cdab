package kind

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// Site is a cluster made ready for runs.
type Site struct {
	bed      *testbed.Cluster
	api      kubernetes.Interface
	postgres images.Image
	password string // of every run's database: they are copies of one

	// What runs made leaves while others go on already.
	ctx      context.Context
	cancel   context.CancelFunc
	leaving  sync.WaitGroup
	mu       sync.Mutex
	problems []error
}

// Prepare removes what earlier runs left, brings the images to the nodes, and makes the database that runs get copies of. No run may be
// going on.
func Prepare(ctx context.Context, bed *testbed.Cluster, postgres images.Image, programs ...images.Image) (*Site, error) {
	api, err := kubernetes.NewForConfig(bed.Config())
	if err != nil {
		return nil, err
	}
	s := &Site{bed: bed, api: api, postgres: postgres, password: deployed.Token()}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := sweep(ctx, bed, api); err != nil {
		return nil, err
	}
	for _, image := range append(programs, postgres) {
		if err := bed.Load(ctx, image.Archive, image.Ref); err != nil {
			return nil, err
		}
	}
	return s, s.makeTemplate(ctx)
}

// template is where the database stands that runs get copies of: to set one up takes seconds of a processor.
var template = path.Join(home, "template")

// makeTemplate sets the database up as the image itself would on an empty volume; told to print a setting, the server ends then.
// The password comes by a file that only root can read, and by no command line.
const makeTemplate = `set -e
IFS= read -r password
install -d -m 0700 -o "$1" "$2"
secret="$2.env"
trap 'rm -f "$secret"' EXIT
(umask 077; printf 'POSTGRES_PASSWORD=%s\nPOSTGRES_USER=squall\nPOSTGRES_DB=squall\nPGDATA=/data/pgdata\n' "$password" >"$secret")
ctr --namespace k8s.io run --rm --env-file "$secret" --user "$1:$1" --mount "type=bind,src=$2,dst=/data,options=rbind:rw" "$0" squall-template \
	docker-entrypoint.sh postgres -C port`

func (s *Site) makeTemplate(ctx context.Context) error {
	_, err := s.bed.ControlPlane().Script(ctx, makeTemplate, s.password+"\n", s.postgres.Ref, fmt.Sprint(images.PostgresUser), template)
	if err != nil {
		return fmt.Errorf("set up a database with image %s: %w", s.postgres.Ref, err)
	}
	return nil
}

// leave has something removed while others go on.
func (s *Site) leave(remove func(ctx context.Context) error) {
	s.leaving.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, 3*time.Minute)
		defer cancel()
		err := remove(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.problems = append(s.problems, err)
	})
}

// Settle returns when all that runs made is gone from the cluster. There can be no more runs.
func (s *Site) Settle(ctx context.Context) error {
	defer s.cancel()
	gone := make(chan struct{})
	go func() {
		s.leaving.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
		return fmt.Errorf("wait until what runs made is gone: %w; the next command with this cluster removes it", context.Cause(ctx))
	}
	return errors.Join(append(s.problems, removeFiles(ctx, s.bed))...)
}

// Abandon is for a cluster that is about to be removed: nobody need wait for what is in it.
func (s *Site) Abandon() {
	s.cancel()
	s.leaving.Wait()
}
