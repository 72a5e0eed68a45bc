// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// backdate is how long before it was issued a certificate begins to be valid, for clients whose clocks are behind.
const backdate = time.Hour

// keyPair is a certificate with its private key.
type keyPair struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// newCA issues a CA that signs itself.
func newCA(now time.Time, lifetime time.Duration) (*keyPair, error) {
	template := &x509.Certificate{
		// Another name than that of the CA before: a verifier need not try both.
		Subject:               pkix.Name{CommonName: fmt.Sprintf("modelbox-apiserver-ca@%d", now.Unix())},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	return issue(template, nil)
}

// newServing issues a serving certificate for the hosts, DNS names and IP addresses. It does not outlive the CA that signs it.
func newServing(ca *keyPair, hosts []string, now time.Time, lifetime time.Duration) (*keyPair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "modelbox-apiserver"},
		NotBefore:             now.Add(-backdate),
		NotAfter:              servingEnd(ca.certificate, now, lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return issue(template, ca)
}

// servingEnd returns when a serving certificate expires that the CA signs now.
func servingEnd(ca *x509.Certificate, now time.Time, lifetime time.Duration) time.Time {
	if end := now.Add(lifetime); end.Before(ca.NotAfter) {
		return end
	}
	return ca.NotAfter
}

// issue makes a certificate of the template with a key of its own. It signs itself where there is no signer.
func issue(template *x509.Certificate, signer *keyPair) (*keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating a private key: %w", err)
	}
	if signer == nil {
		signer = &keyPair{certificate: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.certificate, key.Public(), signer.key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of %s: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return &keyPair{certificate: certificate, key: key}, nil
}

// encode returns the certificate and the key in PEM.
func (p *keyPair) encode() (certificate, key []byte, err error) {
	if certificate, err = certutil.EncodeCertificates(p.certificate); err != nil {
		return nil, nil, fmt.Errorf("encoding a certificate: %w", err)
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(p.key); err != nil {
		return nil, nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return certificate, key, nil
}
