// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package pki issues CAs, and certificates that they sign, each with a new private key.
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

// backdate is subtracted from the time of issue to get the start of the validity, for clients whose clocks are behind.
const backdate = time.Hour

// KeyPair is a certificate with its private key.
type KeyPair struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// Subject is the subject of a certificate, and its usage.
type Subject struct {
	CommonName string
	// Hosts are DNS names and IP addresses.
	Hosts  []string
	Usages []x509.ExtKeyUsage
}

// NewCA issues a self-signed CA.
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

// Issue issues a certificate that the CA signs. The certificate expires with the CA at the latest.
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

// issue issues a certificate of the template with a new private key. The certificate is self-signed if signer is nil.
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

// Encode returns the certificate and the private key as PEM.
func (p *KeyPair) Encode() (certificate, key []byte, err error) {
	if certificate, err = certutil.EncodeCertificates(p.Certificate); err != nil {
		return nil, nil, fmt.Errorf("encoding a certificate: %w", err)
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(p.Key); err != nil {
		return nil, nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return certificate, key, nil
}

// Find returns the private key in keyPEM with its certificate, which must be one of certificates. Its errors never contain a part
// of the key.
func Find(certificates []*x509.Certificate, keyPEM []byte) (*KeyPair, error) {
	parsed, err := keyutil.ParsePrivateKeyPEM(keyPEM)
	if err != nil {
		return nil, errors.New("it is not a private key")
	}
	key, isSigner := parsed.(crypto.Signer)
	if !isSigner {
		return nil, errors.New("it is not a private key for signing")
	}
	public, isECDSA := key.Public().(*ecdsa.PublicKey)
	if !isECDSA {
		return nil, errors.New("it is not an ECDSA key")
	}
	for _, certificate := range certificates {
		if public.Equal(certificate.PublicKey) {
			return &KeyPair{Certificate: certificate, Key: key}, nil
		}
	}
	return nil, errors.New("its certificate is missing")
}

// RenewalTime returns the time to renew a certificate: after two thirds of its lifetime, or of the given lifetime if that is
// shorter.
func RenewalTime(certificate *x509.Certificate, lifetime time.Duration) time.Time {
	issued := certificate.NotBefore.Add(backdate)
	return issued.Add(min(certificate.NotAfter.Sub(issued), lifetime) * 2 / 3)
}
