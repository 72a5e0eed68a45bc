// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"os"

	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// keypair is a key of "cosign generate-key-pair": ECDSA on the curve P-256, with SHA-256.
type keypair struct {
	private *ecdsa.PrivateKey
	// hint identifies the public key in a bundle: the SHA-256 of its PKIX form, as cosign computes it.
	hint string
}

func readKeypair(file, password string) (*keypair, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the private key: %w", err)
	}
	decoded, err := cryptoutils.UnmarshalPEMToPrivateKey(data, cryptoutils.StaticPasswordFunc([]byte(password)))
	if err != nil {
		return nil, fmt.Errorf("decoding the private key in %s with the password in COSIGN_PASSWORD: %w", file, err)
	}
	private, ok := decoded.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, fmt.Errorf("the private key in %s must be an ECDSA key on the curve P-256, as \"cosign generate-key-pair\" writes it", file)
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return nil, fmt.Errorf("encoding the public key: %w", err)
	}
	digest := sha256.Sum256(public)
	return &keypair{private: private, hint: base64.StdEncoding.EncodeToString(digest[:])}, nil
}

// GetHashAlgorithm implements sign.Keypair.
func (k *keypair) GetHashAlgorithm() protocommon.HashAlgorithm {
	return protocommon.HashAlgorithm_SHA2_256
}

// GetSigningAlgorithm implements sign.Keypair.
func (k *keypair) GetSigningAlgorithm() protocommon.PublicKeyDetails {
	return protocommon.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256
}

// GetHint implements sign.Keypair.
func (k *keypair) GetHint() []byte { return []byte(k.hint) }

// GetKeyAlgorithm implements sign.Keypair.
func (k *keypair) GetKeyAlgorithm() string { return "ECDSA" }

// GetPublicKey implements sign.Keypair.
func (k *keypair) GetPublicKey() crypto.PublicKey { return k.private.Public() }

// GetPublicKeyPem implements sign.Keypair.
func (k *keypair) GetPublicKeyPem() (string, error) {
	data, err := cryptoutils.MarshalPublicKeyToPEM(k.private.Public())
	return string(data), err
}

// SignData implements sign.Keypair. It returns the signature and the digest of the data.
func (k *keypair) SignData(_ context.Context, data []byte) ([]byte, []byte, error) {
	digest := sha256.Sum256(data)
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, digest[:])
	return signature, digest[:], err
}
