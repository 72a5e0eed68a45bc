// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// SigningKey is a key pair in PEM, without a certificate. It signs and verifies service account tokens.
type SigningKey struct {
	Private []byte
	Public  []byte
}

// NewSigningKey creates a new key pair.
func NewSigningKey() (SigningKey, error) {
	key, err := newKey()
	if err != nil {
		return SigningKey{}, err
	}
	private, err := encodePrivateKey(key)
	if err != nil {
		return SigningKey{}, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return SigningKey{}, fmt.Errorf("encoding a public key: %w", err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return SigningKey{Private: private, Public: public}, nil
}

func encodePrivateKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func parseCertificate(certificatePEM []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(certificatePEM)
	if block == nil {
		return nil, errors.New("no PEM block in the certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}
