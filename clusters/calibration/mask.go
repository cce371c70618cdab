package calibration

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Mask hides names and labels: the same name has the same mask under the same salt, and nobody without the salt can try names
// until one fits.
type Mask struct{ salt []byte }

// NewMask makes a mask of a salt.
func NewMask(salt []byte) Mask { return Mask{salt} }

// Name is a name of some kind, hidden.
func (m Mask) Name(kind, name string) string {
	if name == "" {
		return ""
	}
	h := hmac.New(sha256.New, m.salt)
	h.Write([]byte(kind + "\x00" + name))
	return kind + "-" + hex.EncodeToString(h.Sum(nil))[:12]
}

// Hide masks whatever the samples name.
func (s *Samples) Hide(m Mask) {
	for _, set := range s.sets { // order does not matter
		for i := range set {
			of := &set[i].Of
			var labels map[string]string
			for key, value := range of.Labels { // order does not matter
				if labels == nil {
					labels = map[string]string{}
				}
				labels[m.Name("label", key)] = m.Name("value", value)
			}
			*of = Subject{Namespace: m.Name("namespace", of.Namespace), Pod: m.Name("pod", of.Pod), Node: m.Name("node", of.Node), Labels: labels}
		}
	}
}
