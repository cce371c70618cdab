package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"
)

// Where every pod finds who it is: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

// node is what a route needs to know.
type node struct {
	Name    string
	Address netip.Addr
	Pods    netip.Prefix // not valid before the controller manager has chosen one
}

// api reads the nodes. It is a dozen lines of HTTP and not client-go, which would make this the largest program on the node.
type api struct {
	client *http.Client
	url    string
}

// newAPI takes the address from kind, if it is there: the Service's needs kube-proxy, which needs a while.
func newAPI() (*api, error) {
	host := os.Getenv("CONTROL_PLANE_ENDPOINT")
	if host == "" {
		host = net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	}
	authorities, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return nil, fmt.Errorf("read the cluster's certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return nil, errors.New("there is no certificate in " + account + "ca.crt")
	}
	return &api{
		url: "https://" + host + "/api/v1/nodes?resourceVersion=0", // from the API server's cache
		client: &http.Client{
			Timeout:   10 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
		},
	}, nil
}

func (a *api) nodes(ctx context.Context) ([]node, error) {
	token, err := os.ReadFile(account + "token") // each time: it is renewed
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	request.Header.Set("User-Agent", "podnetwork")
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("list nodes: %s", response.Status)
	}
	var list nodeList
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return list.nodes(), nil
}

// nodeList is the part of a v1.NodeList that matters here.
type nodeList struct {
	Items []struct {
		Metadata struct{ Name string }
		Spec     struct{ PodCIDR string }
		Status   struct {
			Addresses []struct{ Type, Address string }
		}
	}
}

func (l nodeList) nodes() []node {
	var nodes []node
	for _, item := range l.Items {
		n := node{Name: item.Metadata.Name}
		n.Pods, _ = netip.ParsePrefix(item.Spec.PodCIDR)
		for _, address := range item.Status.Addresses {
			if found, err := netip.ParseAddr(address.Address); err == nil && address.Type == "InternalIP" && found.Is4() {
				n.Address = found
			}
		}
		nodes = append(nodes, n)
	}
	return nodes
}
