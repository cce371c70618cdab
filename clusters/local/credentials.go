package local

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// credentials are the secrets of one control plane. They are files that only their owner may read, gone with their directory.
type credentials struct {
	dir   string
	ca    []byte // the API server's certificate, which signs itself
	token string // of a user in system:masters
}

// newCredentials writes a certificate of the API server, the key of service account tokens, and a token file.
func newCredentials(dir string) (credentials, error) {
	c := credentials{dir: dir, token: rand.Text()}
	key, cert, err := selfSigned()
	if err != nil {
		return c, fmt.Errorf("make a certificate: %w", err)
	}
	c.ca = cert
	for name, text := range map[string][]byte{
		"apiserver.key": key, "apiserver.crt": cert, "tokens.csv": []byte(c.token + ",squall,squall,system:masters\n"),
	} {
		if err := os.WriteFile(c.file(name), text, 0o600); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c credentials) file(name string) string { return filepath.Join(c.dir, name) }

// config is the administrator's access.
func (c credentials) config(address string) *rest.Config {
	return &rest.Config{Host: "https://" + address, BearerToken: c.token, TLSClientConfig: rest.TLSClientConfig{CAData: c.ca}}
}

// kubeconfig writes the administrator's access as a file; clientcmd makes it 0600.
func (c credentials) kubeconfig(address string) error {
	const name = "squall-local"
	k := clientcmdapi.NewConfig()
	k.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: c.ca}
	k.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: c.token}
	k.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	k.CurrentContext = name
	return clientcmd.WriteToFile(*k, c.file("kubeconfig"))
}

// selfSigned is a key and a certificate for loopback. The key serves for service account tokens, too.
func selfSigned() (key, cert []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "squall-local"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(30 * 24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
