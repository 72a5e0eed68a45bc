// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki issues certificates with private keys of their own: CAs, and what they sign.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// backdate is how long before it was issued a certificate begins to be valid, for others whose clocks are behind.
const backdate = time.Hour

// KeyPair is a certificate with its private key.
type KeyPair struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// Subject is whom a certificate is for, and what.
type Subject struct {
	CommonName string
	// Hosts are DNS names and IP addresses.
	Hosts  []string
	Usages []x509.ExtKeyUsage
}

// NewCA issues a CA that signs itself.
func NewCA(commonName string, now time.Time, lifetime time.Duration) (*KeyPair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	return issue(template, nil)
}

// Issue issues a certificate that the CA signs. It does not outlive the CA.
func (p *KeyPair) Issue(subject Subject, now time.Time, lifetime time.Duration) (*KeyPair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: subject.CommonName},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           subject.Usages,
		BasicConstraintsValid: true,
	}
	if end := p.Certificate.NotAfter; template.NotAfter.After(end) {
		template.NotAfter = end
	}
	for _, host := range subject.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return issue(template, p)
}

// issue makes a certificate of the template with a key of its own. It signs itself where there is no signer.
func issue(template *x509.Certificate, signer *KeyPair) (*KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating a private key: %w", err)
	}
	if signer == nil {
		signer = &KeyPair{Certificate: template, Key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.Certificate, key.Public(), signer.Key)
	if err != nil {
		return nil, fmt.Errorf("signing the certificate of %s: %w", template.Subject.CommonName, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return &KeyPair{Certificate: certificate, Key: key}, nil
}

// Encode returns the certificate and the key in PEM.
func (p *KeyPair) Encode() (certificate, key []byte, err error) {
	if certificate, err = certutil.EncodeCertificates(p.Certificate); err != nil {
		return nil, nil, fmt.Errorf("encoding a certificate: %w", err)
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(p.Key); err != nil {
		return nil, nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return certificate, key, nil
}

// Find returns the pair of a private key, in PEM, and its certificate among those. An error has no part of the key.
func Find(certificates []*x509.Certificate, keyPEM []byte) (*KeyPair, error) {
	parsed, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		return nil, errors.New("it is no private key")
	}
	key, isSigner := parsed.(crypto.Signer)
	if !isSigner {
		return nil, errors.New("it is no private key that signs")
	}
	public, isECDSA := key.Public().(*ecdsa.PublicKey)
	if !isECDSA {
		return nil, errors.New("it is not of the kind that is issued here")
	}
	for _, certificate := range certificates {
		if public.Equal(certificate.PublicKey) {
			return &KeyPair{Certificate: certificate, Key: key}, nil
		}
	}
	return nil, errors.New("its certificate is missing")
}

// RenewalTime is after two thirds of the life of the certificate, or of the lifetime where that is shorter by now.
func RenewalTime(certificate *x509.Certificate, lifetime time.Duration) time.Time {
	issued := certificate.NotBefore.Add(backdate)
	return issued.Add(min(certificate.NotAfter.Sub(issued), lifetime) * 2 / 3)
}
