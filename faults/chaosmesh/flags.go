package chaosmesh

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/squall-chaos/squall/clusters"
)

// ParseDatabase reads where the database is: a host or an address, or LABEL=VALUE of its Pods, several with commas between them.
func ParseDatabase(text string) (Database, error) {
	if !strings.Contains(text, "=") {
		if err := host(text); err != nil {
			return Database{}, fmt.Errorf("%q: %w, or LABEL=VALUE of the database's Pods", text, err)
		}
		return Database{Hosts: []string{text}}, nil
	}
	labels, err := parseLabels(text)
	return Database{Pods: labels}, err
}

// CheckHost returns an error unless the text is an address, a range of addresses, or a host name.
func CheckHost(text string) error {
	if err := host(text); err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	return nil
}

func host(text string) error {
	_, noAddress := netip.ParseAddr(text)
	_, noRange := netip.ParsePrefix(text)
	if noAddress != nil && noRange != nil && len(validation.IsDNS1123Subdomain(text)) > 0 {
		return fmt.Errorf("expected an address like 10.96.0.1, a range like 10.0.0.0/24, or a host name")
	}
	return nil
}

// ParseHTTP reads PORT=LABEL=VALUE:NUMBER[/PATH]: the plain HTTP server in Pods that the calls of a port go to.
func ParseHTTP(text string) (clusters.Port, HTTPServer, error) {
	form := func(what string) (clusters.Port, HTTPServer, error) {
		return "", HTTPServer{}, fmt.Errorf("%q: %s; expected PORT=LABEL=VALUE:NUMBER[/PATH], such as api=app=gateway:8080/jobs*", text, what)
	}
	port, rest, _ := strings.Cut(text, "=")
	if port != string(clusters.API) && port != string(clusters.Store) {
		return form(fmt.Sprintf("calls go by port api or store, not %q", port))
	}
	rest, path, hasPath := strings.Cut(rest, "/")
	cut := strings.LastIndexByte(rest, ':')
	if cut < 0 {
		return form("the number of the server's port is missing")
	}
	number, err := strconv.ParseInt(rest[cut+1:], 10, 32)
	if err != nil || number < 1 || number > 65535 {
		return form(fmt.Sprintf("%q is no number of a port", rest[cut+1:]))
	}
	labels, err := parseLabels(rest[:cut])
	if err != nil {
		return form(err.Error())
	}
	server := HTTPServer{Pods: labels, Port: int32(number)}
	if hasPath {
		if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return form(fmt.Sprintf("the path %q has something in it that cannot be seen", "/"+path))
		}
		server.Path = "/" + path
	}
	return clusters.Port(port), server, nil
}

func parseLabels(text string) (map[string]string, error) {
	labels := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 {
			return nil, fmt.Errorf("%q is no label: expected LABEL=VALUE", pair)
		}
		labels[key] = value
	}
	return labels, nil
}

func labelText(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}
