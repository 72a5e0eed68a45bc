// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"crypto/x509"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	certutil "k8s.io/client-go/util/cert"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/pki"
)

// The keys of the Secret, besides the keys of the serving certificate, which all Secrets of the type kubernetes.io/tls have.
const (
	// trustedKey has the CAs that clients must trust, the oldest first.
	trustedKey = corev1.ServiceAccountRootCAKey
	// signerKey has the private key of the CA that signs.
	signerKey = "ca.key"
	// nextSignerKey has the private key of the next CA. It only exists during the rotation of the CA.
	nextSignerKey = "next-ca.key"
)

// certificates are the contents of the Secret.
type certificates struct {
	// trusted has the CAs that clients must trust, the oldest first: signer, next, and former CAs until they expire.
	trusted []*x509.Certificate
	// signer signs serving certificates.
	signer *pki.KeyPair
	// next replaces signer after the cluster trusts it. It is nil unless the CA is being rotated.
	next    *pki.KeyPair
	serving *pki.KeyPair
}

// bundle returns the trusted CAs as PEM.
func (c *certificates) bundle() ([]byte, error) {
	bundle, err := certutil.EncodeCertificates(c.trusted...)
	if err != nil {
		return nil, fmt.Errorf("encoding the CAs: %w", err)
	}
	return bundle, nil
}

// encode returns the data of the Secret.
func (c *certificates) encode() (map[string][]byte, error) {
	certificate, key, err := c.serving.Encode()
	if err != nil {
		return nil, err
	}
	bundle, err := c.bundle()
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{trustedKey: bundle, corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	if _, data[signerKey], err = c.signer.Encode(); err != nil {
		return nil, err
	}
	if c.next != nil {
		if _, data[nextSignerKey], err = c.next.Encode(); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// decode reads the data of the Secret. Its errors never contain a part of a private key.
func decode(data map[string][]byte) (*certificates, error) {
	trusted, err := certutil.ParseCertsPEM(data[trustedKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", trustedKey, err)
	}
	for _, ca := range trusted {
		if !ca.IsCA {
			return nil, fmt.Errorf("%s: the certificate of %s is not a CA certificate", trustedKey, ca.Subject.CommonName)
		}
	}
	c := &certificates{trusted: trusted}
	if c.signer, err = pki.Find(trusted, data[signerKey]); err != nil {
		return nil, fmt.Errorf("%s: %w", signerKey, err)
	}
	if key, hasNext := data[nextSignerKey]; hasNext {
		if c.next, err = pki.Find(trusted, key); err != nil {
			return nil, fmt.Errorf("%s: %w", nextSignerKey, err)
		}
	}
	serving, err := certutil.ParseCertsPEM(data[corev1.TLSCertKey])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", corev1.TLSCertKey, err)
	}
	if c.serving, err = pki.Find(serving[:1], data[corev1.TLSPrivateKeyKey]); err != nil {
		return nil, fmt.Errorf("%s: %w", corev1.TLSPrivateKeyKey, err)
	}
	if !c.isTrusted(c.serving.Certificate) {
		return nil, fmt.Errorf("%s: no CA in %s has signed it", corev1.TLSCertKey, trustedKey)
	}
	return c, nil
}

// isTrusted returns whether one of the trusted CAs has signed the certificate.
func (c *certificates) isTrusted(certificate *x509.Certificate) bool {
	for _, ca := range c.trusted {
		if certificate.CheckSignatureFrom(ca) == nil {
			return true
		}
	}
	return false
}
