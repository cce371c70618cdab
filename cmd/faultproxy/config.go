package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/squall-chaos/squall/faults/proxy"
)

// config is what the flags and the environment say.
type config struct {
	options proxy.Options
	level   slog.Level
}

// flags are the texts that make a config.
type flags struct {
	apiListen, apiUpstream, apiCA, tlsCert, tlsKey string
	storeListen, storeUpstream                     string
	controlListen, controlTokenFile                string
	logLevel                                       string
}

// variable is the name of a flag in the environment: --api-listen is SQUALL_PROXY_API_LISTEN.
func variable(flag string) string {
	return "SQUALL_PROXY_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func configure(args []string, lookup func(string) (string, bool), out io.Writer) (config, error) {
	var f flags
	set := pflag.NewFlagSet("faultproxy", pflag.ContinueOnError)
	set.SetOutput(out)
	define := func(target *string, name, value, usage string) {
		if given, ok := lookup(variable(name)); ok {
			value = given
		}
		set.StringVar(target, name, value, usage+" ["+variable(name)+"]")
	}
	define(&f.apiListen, "api-listen", "", "address for clients of the API server, such as :6443")
	define(&f.apiUpstream, "api-upstream", "", "URL of the API server, such as https://kubernetes.default.svc")
	define(&f.apiCA, "api-ca", "", "file with the CA certificates of the API server; empty: the system's")
	define(&f.tlsCert, "tls-cert", "", "file with the certificate that clients of the API server see")
	define(&f.tlsKey, "tls-key", "", "file with its key")
	define(&f.storeListen, "store-listen", "", "address for clients of Postgres, such as :5432")
	define(&f.storeUpstream, "store-upstream", "", "host:port of Postgres, reached without TLS")
	define(&f.controlListen, "control-listen", "127.0.0.1:9443", "address that takes the rules")
	define(&f.controlTokenFile, "control-token-file", "", "file with the bearer token that rules need")
	define(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	if err := set.Parse(args); err != nil {
		return config{}, err
	}
	if set.NArg() > 0 {
		return config{}, fmt.Errorf("faultproxy takes flags only, not %q", set.Args())
	}
	return f.config()
}

// config reads the files and says everything that is wrong.
func (f flags) config() (c config, err error) {
	var errs []error
	if err := c.level.UnmarshalText([]byte(f.logLevel)); err != nil {
		errs = append(errs, fmt.Errorf("--log-level: %q is none of debug, info, warn and error", f.logLevel))
	}
	if f.apiListen == "" && f.storeListen == "" {
		errs = append(errs, errors.New("nothing to stand in front of: give --api-listen, --store-listen or both"))
	}
	if f.apiListen != "" {
		api, problems := f.api()
		c.options.API, errs = &api, append(errs, problems...)
	}
	if f.storeListen != "" {
		c.options.Store = &proxy.StoreOptions{Listen: f.storeListen, Upstream: f.storeUpstream}
		errs = append(errs, address("store-listen", f.storeListen), address("store-upstream", f.storeUpstream))
	}
	token, problem := f.token()
	c.options.Control = proxy.ControlOptions{Listen: f.controlListen, Token: token}
	errs = append(errs, address("control-listen", f.controlListen), problem)
	return c, errors.Join(errs...)
}

func (f flags) api() (o proxy.APIOptions, errs []error) {
	o.Listen = f.apiListen
	errs = append(errs, address("api-listen", f.apiListen))
	u, err := url.Parse(f.apiUpstream)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		errs = append(errs, fmt.Errorf("--api-upstream: %q is no https URL", f.apiUpstream))
	}
	o.Upstream = u
	if f.apiCA != "" {
		pem, err := os.ReadFile(f.apiCA)
		o.CA = x509.NewCertPool()
		if err != nil {
			errs = append(errs, fmt.Errorf("--api-ca: %w", err))
		} else if !o.CA.AppendCertsFromPEM(pem) {
			errs = append(errs, fmt.Errorf("--api-ca: %s holds no certificate in PEM", f.apiCA))
		}
	}
	if f.tlsCert == "" || f.tlsKey == "" {
		return o, append(errs, errors.New("--tls-cert and --tls-key: clients of the API server speak TLS, so --api-listen needs both"))
	}
	if o.Certificate, err = tls.LoadX509KeyPair(f.tlsCert, f.tlsKey); err != nil {
		errs = append(errs, fmt.Errorf("--tls-cert and --tls-key: %w", err))
	}
	return o, errs
}

func (f flags) token() (string, error) {
	if f.controlTokenFile == "" {
		return "", errors.New("--control-token-file: whoever reaches the control address could break everything, so it needs a token")
	}
	text, err := os.ReadFile(f.controlTokenFile)
	if err != nil {
		return "", fmt.Errorf("--control-token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 16 {
		return "", fmt.Errorf("--control-token-file: %s holds fewer than 16 bytes; try openssl rand -hex 16", f.controlTokenFile)
	}
	return token, nil
}

func address(flag, value string) error {
	if _, _, err := net.SplitHostPort(value); err != nil {
		return fmt.Errorf("--%s: %q is not host:port", flag, value)
	}
	return nil
}
