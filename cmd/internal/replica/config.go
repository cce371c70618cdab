package replica

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/squall-chaos/squall/cmd/internal/record"
	"github.com/squall-chaos/squall/cmd/internal/system"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// config is what a replica is told.
type config struct {
	process  string
	instance dispatcher.InstanceID
	settings dispatcher.Settings
	system   dispatcher.System
	database string
	listen   string
	record   record.Place
	kube     *rest.Config

	namespace string
	image     string
	workers   orders
}

// life is what tells one life of the process from others.
func (c config) life() string { return filepath.Base(string(c.instance)) }

func readConfig(lookup func(string) (string, bool)) (config, error) {
	r := environment.NewReader(lookup)
	c := config{
		process:   r.Optional(environment.Process, hostname()),
		settings:  environment.Parse(r, environment.Settings, "", environment.ExpectedSettings(), environment.DecodeSettings),
		system:    system.Read(r),
		database:  r.Secret(environment.DatabaseURL, "a Postgres URL", checkURL),
		listen:    environment.Parse(r, environment.Listen, environment.DefaultListen, "an address like :8080", checkAddress),
		record:    record.Read(r),
		namespace: environment.Parse(r, environment.Namespace, "", "the namespace of the workloads", label),
		image:     r.Text(environment.Image, "the image of the workloads"),
		workers:   readOrders(r),
	}
	if c.process == "" {
		r.Report(environment.Process, "the name of the process, since the host has none", "nothing")
	}
	var err error
	if c.kube, err = connection(r.Optional(environment.Kubeconfig, "")); err != nil {
		r.Report(environment.Kubeconfig, "a readable kubeconfig, or nothing inside a cluster", err.Error())
	} else {
		c.kube.UserAgent = c.process // who calls is told apart by it
	}
	c.instance = newInstance(c.process)
	c.settings = system.Settings(c.system, c.settings)
	return c, r.Err()
}

func hostname() string {
	name, _ := os.Hostname() // an empty one is reported
	return name
}

// newInstance names one life of the process, in the form that histories know.
func newInstance(process string) dispatcher.InstanceID {
	var life [4]byte
	_, _ = rand.Read(life[:]) // never fails, see crypto/rand
	return dispatcher.InstanceID(process + "/" + hex.EncodeToString(life[:]))
}

// connection is that of the kubeconfig, or that of a Pod when there is none.
func connection(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	files := &clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(kubeconfig)}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(files, nil).ClientConfig()
}

// checkURL tells whether the text can be understood; the error may hold parts of it.
func checkURL(url string) error {
	_, err := pgxpool.ParseConfig(url)
	return err
}

func checkAddress(text string) (string, error) {
	_, _, err := net.SplitHostPort(text)
	return text, err
}

func label(text string) (string, error) {
	if problems := validation.IsDNS1123Label(text); len(problems) > 0 {
		return text, errors.New(problems[0])
	}
	return text, nil
}

// tellFindings warns of settings that do not fit together. They are not refused: to run with them on purpose is what a
// harness does, and `squall lint` is there for everybody else.
func tellFindings(log *slog.Logger, s dispatcher.Settings) {
	for _, f := range s.Check() {
		log.Warn("settings do not fit together", "rule", f.Rule, "severity", string(f.Severity), "finding", fmt.Sprint(f))
	}
}
