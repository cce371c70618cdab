package deployed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// secrets are those of one run. They are worth nothing after it.
type secrets struct {
	password    string // of the database
	control     string // of the fault proxy
	certificate []byte // of the fault proxy as an API server, PEM; its own authority
	key         []byte
}

func newSecrets(addresses []net.IP) (secrets, error) {
	s := secrets{control: Token()}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return s, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "squall fault proxy"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:        true, BasicConstraintsValid: true, IPAddresses: addresses,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return s, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return s, err
	}
	s.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	s.key = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return s, nil
}

// Token is a secret of 128 bits.
func Token() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:]) // never fails, see crypto/rand
	return hex.EncodeToString(bytes[:])
}
