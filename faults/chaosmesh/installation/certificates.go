package installation

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"time"
)

// identity is a certificate and its key, as Secrets have them: PEM in base64.
type identity struct{ Certificate, Key string }

// authority signs the certificates of one installation. Its key is forgotten with it.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	text        string
}

// lasting is how long certificates are valid: longer than a cluster of the tests.
const lasting = 30 * 24 * time.Hour

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "chaos-mesh of squall's tests"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lasting),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate: certificate, key: key, text: encoded("CERTIFICATE", der)}, err
}

// sign makes the certificate of a server, and of a client, of that name.
func (a *authority) sign(serial int64, name string) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: a.certificate.NotBefore, NotAfter: a.certificate.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return identity{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	return identity{Certificate: encoded("CERTIFICATE", der), Key: encoded("PRIVATE KEY", secret)}, err
}

func encoded(what string, der []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: what, Bytes: der}))
}
