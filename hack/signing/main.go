// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command signing signs a release, so that cosign can verify its files: it writes the public key, a signature of the checksums,
// and a signed SLSA provenance of all files that have a checksum. It contacts no other service.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sigstore/sigstore-go/pkg/sign"
)

// The files of a release that this command reads and writes.
const (
	checksumsFile  = "SHA256SUMS"
	publicKeyFile  = "cosign.pub"
	signatureFile  = "SHA256SUMS.sigstore.json"
	provenanceFile = "provenance.sigstore.json"
)

func main() {
	if err := run(os.Args[1:], os.Getenv("COSIGN_PASSWORD")); errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "signing:", err)
		os.Exit(1)
	}
}

func run(args []string, password string) error {
	flags := flag.NewFlagSet("signing", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: signing [flags] <folder of the release>")
		flags.PrintDefaults()
	}
	key := flags.String("key", "", "private key in the `file` that \"cosign generate-key-pair\" writes; COSIGN_PASSWORD is its password")
	var build build
	flags.StringVar(&build.repository, "repository", "", "`URL` of the repository that the release is built from")
	flags.StringVar(&build.commit, "commit", "", "`hash` of the commit that the release is built from")
	flags.StringVar(&build.version, "version", "", "`version` of the release")
	flags.StringVar(&build.goVersion, "go-version", "", "`version` of Go that builds the programs")
	flags.StringVar(&build.serverImage, "image", "", "server `image` of the release, with its digest")
	flags.StringVar(&build.etcdImage, "etcd-image", "", "etcd `image` that the installation files use")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *key == "" {
		return errors.New("-key is required")
	}
	if err := build.validate(); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("expected one folder, got %d", flags.NArg())
	}
	keypair, err := readKeypair(*key, password)
	if err != nil {
		return err
	}
	return signRelease(flags.Arg(0), keypair, build)
}

// signRelease signs the release in the folder. It first compares the files with their checksums, and signs nothing if one differs.
func signRelease(folder string, keypair sign.Keypair, build build) error {
	checksums, err := os.ReadFile(filepath.Join(folder, checksumsFile))
	if err != nil {
		return fmt.Errorf("reading the checksums of the release: %w", err)
	}
	files, err := verifyChecksums(folder, checksums)
	if err != nil {
		return err
	}
	statement, err := newStatement(files, build)
	if err != nil {
		return err
	}
	publicKey, err := keypair.GetPublicKeyPem()
	if err != nil {
		return fmt.Errorf("encoding the public key: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, publicKeyFile), []byte(publicKey), 0o644); err != nil {
		return err
	}
	if err := writeBundle(filepath.Join(folder, signatureFile), &sign.PlainData{Data: checksums}, keypair); err != nil {
		return err
	}
	return writeBundle(filepath.Join(folder, provenanceFile), &sign.DSSEData{Data: statement, PayloadType: payloadType}, keypair)
}
