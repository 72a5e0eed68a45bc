// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	attestationv1 "github.com/in-toto/attestation/go/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

const (
	password = "correct horse"
	commit   = "4dd53d6450218ba32b36bb5d5c55a5ba1e9ba5e1"
	digest   = "a3ed95caeb02ffe68cdd9fd84406680ae93d633cb16422d00e8a7c22955b46d4"
)

// release is a signed release, as its users download it.
type release struct{ folder string }

func newRelease(t *testing.T) release {
	t.Helper()
	r := release{t.TempDir()}
	r.write(t, "modelbox-apiserver-linux-amd64", "server")
	r.write(t, "modelbox.yaml", "manifest")
	r.writeChecksums(t)
	if err := run(arguments(newKey(t), r.folder), password); err != nil {
		t.Fatal(err)
	}
	return r
}

func arguments(key, folder string) []string {
	return []string{"-key", key, "-repository", "https://example.com/modelbox", "-commit", commit, "-version", "v1.0.0", "-go-version", "go1.26.0",
		"-image", "registry.example.com/modelbox-apiserver@sha256:" + digest, "-etcd-image", "registry.example.com/etcd:v3.7.0", folder}
}

// newKey writes a private key as "cosign generate-key-pair" does, and returns the file.
func newKey(t *testing.T) string {
	t.Helper()
	private, _, err := cryptoutils.GeneratePEMEncodedECDSAKeyPair(elliptic.P256(), cryptoutils.StaticPasswordFunc([]byte(password)))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cosign.key")
	if err := os.WriteFile(file, private, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (r release) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.folder, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r release) read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// writeChecksums writes the checksums of all files except for the files of the signature, like sha256sum.
func (r release) writeChecksums(t *testing.T) {
	t.Helper()
	var sums strings.Builder
	for _, name := range []string{"modelbox-apiserver-linux-amd64", "modelbox.yaml"} {
		sum, err := sha256Of(filepath.Join(r.folder, name))
		if err != nil {
			t.Fatal(err)
		}
		sums.WriteString(sum + "  " + name + "\n")
	}
	r.write(t, checksumsFile, sums.String())
}

// verify verifies a bundle with the public key of the release, as cosign does without a transparency log.
func (r release) verify(t *testing.T, bundleFile, file string) (*verify.VerificationResult, error) {
	t.Helper()
	signed, err := bundle.LoadJSONFromPath(filepath.Join(r.folder, bundleFile))
	if err != nil {
		return nil, err
	}
	key, err := cryptoutils.UnmarshalPEMToPublicKey(r.read(t, publicKeyFile))
	if err != nil {
		return nil, err
	}
	verifier, err := signature.LoadVerifier(key, crypto.SHA256)
	if err != nil {
		return nil, err
	}
	trusted := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) { return alwaysValid{verifier}, nil })
	verification, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps())
	if err != nil {
		return nil, err
	}
	return verification.Verify(signed, verify.NewPolicy(verify.WithArtifact(bytes.NewReader(r.read(t, file))), verify.WithKey()))
}

// verifyAll verifies the checksums, the files that they list, and the provenance of each of them.
func (r release) verifyAll(t *testing.T) error {
	t.Helper()
	if _, err := r.verify(t, signatureFile, checksumsFile); err != nil {
		return err
	}
	files, err := verifyChecksums(r.folder, r.read(t, checksumsFile))
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := r.verify(t, provenanceFile, file.name); err != nil {
			return err
		}
	}
	return nil
}

func TestReleaseCanBeVerified(t *testing.T) {
	release := newRelease(t)
	if err := release.verifyAll(t); err != nil {
		t.Errorf("verifying the release: %v", err)
	}
	result, err := release.verify(t, provenanceFile, "modelbox-apiserver-linux-amd64")
	if err != nil {
		t.Fatal(err)
	}
	statement := result.Statement
	if statement.PredicateType != predicateType || statement.Type != attestationv1.StatementTypeUri {
		t.Errorf("the statement has the types %s and %s", statement.Type, statement.PredicateType)
	}
	var image string
	for _, subject := range statement.Subject {
		if subject.Name == "registry.example.com/modelbox-apiserver" {
			image = subject.Digest["sha256"]
		}
	}
	if image != digest {
		t.Errorf("the provenance has the image with the digest %q, want %s", image, digest)
	}
	definition := statement.Predicate.Fields["buildDefinition"].GetStructValue()
	source := definition.Fields["resolvedDependencies"].GetListValue().Values[0].GetStructValue()
	if got := source.Fields["digest"].GetStructValue().Fields["gitCommit"].GetStringValue(); got != commit {
		t.Errorf("the provenance has the commit %q, want %s", got, commit)
	}
}

func TestTamperedReleaseIsNotVerified(t *testing.T) {
	tests := []struct {
		name   string
		tamper func(t *testing.T, r release)
	}{
		{"a file differs", func(t *testing.T, r release) { r.write(t, "modelbox.yaml", "another manifest") }},
		{"a file and its checksum differ", func(t *testing.T, r release) {
			r.write(t, "modelbox.yaml", "another manifest")
			r.writeChecksums(t)
		}},
		{"a file has no checksum", func(t *testing.T, r release) { r.write(t, "install.sh", "script") }},
		{"the signature is of another release", func(t *testing.T, r release) {
			r.write(t, signatureFile, string(newRelease(t).read(t, signatureFile)))
		}},
		{"the provenance is of another release", func(t *testing.T, r release) {
			r.write(t, provenanceFile, string(newRelease(t).read(t, provenanceFile)))
		}},
		{"the public key is of another release", func(t *testing.T, r release) {
			r.write(t, publicKeyFile, string(newRelease(t).read(t, publicKeyFile)))
		}},
		{"the signature is the provenance", func(t *testing.T, r release) {
			r.write(t, signatureFile, string(r.read(t, provenanceFile)))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			release := newRelease(t)
			test.tamper(t, release)
			if err := release.verifyAll(t); err == nil {
				t.Error("the release was verified")
			}
		})
	}
}

func TestNothingIsSignedThatDiffersFromItsChecksum(t *testing.T) {
	release := newRelease(t)
	for _, name := range []string{publicKeyFile, signatureFile, provenanceFile} {
		if err := os.Remove(filepath.Join(release.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	release.write(t, "modelbox.yaml", "another manifest")
	err := run(arguments(newKey(t), release.folder), password)
	if err == nil || !strings.Contains(err.Error(), "modelbox.yaml has the checksum") {
		t.Errorf("got the error %v, want one about the checksum of modelbox.yaml", err)
	}
	if entries, err := filepath.Glob(filepath.Join(release.folder, "*.sigstore.json")); err != nil || len(entries) > 0 {
		t.Errorf("got the signatures %v and the error %v, want none", entries, err)
	}
}

func TestArguments(t *testing.T) {
	folder, key := t.TempDir(), newKey(t)
	without := func(flag string) []string {
		var kept []string
		for args := arguments(key, folder); len(args) > 0; args = args[1:] {
			if args[0] == flag {
				args = args[1:]
				continue
			}
			kept = append(kept, args[0])
		}
		return kept
	}
	tests := []struct {
		name, password, want string
		args                 []string
	}{
		{"no key", password, "-key is required", without("-key")},
		{"no commit", password, "-commit is required", without("-commit")},
		{"image without a digest", password, "-image must be an image with its digest", without("-image")},
		{"no folder", password, "expected one folder", arguments(key, folder)[:14]},
		{"wrong password", "wrong", "COSIGN_PASSWORD", arguments(key, folder)},
		{"no checksums", password, "reading the checksums of the release", arguments(key, folder)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := run(test.args, test.password); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one with %q", err, test.want)
			}
		})
	}
}

// alwaysValid is a key without an expiration.
type alwaysValid struct{ signature.Verifier }

// ValidAtTime implements root.TimeConstrainedVerifier.
func (alwaysValid) ValidAtTime(time.Time) bool { return true }
