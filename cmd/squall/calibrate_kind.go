//go:build kind

package main

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func init() { withoutKubectl = byItself }

// byItself connects without kubectl.
func byItself(o liveOptions) (*connection, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context})
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, usage("--live: the kubeconfig cannot be read: %w", err)
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, usage("--live: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, usage("--live: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, usage("--live: %w", err)
	}
	return &connection{context: nameOr(o.context, nameOr(raw.CurrentContext, "of this pod")), base: base.String(), client: client,
		close: client.CloseIdleConnections}, nil
}
