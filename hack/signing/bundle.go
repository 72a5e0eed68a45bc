// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
)

// writeBundle signs the content and writes the signature to a file, as a bundle in the format that cosign and the other clients of
// sigstore share.
func writeBundle(file string, content sign.Content, keypair sign.Keypair) error {
	bundle, err := sign.Bundle(content, keypair, sign.BundleOptions{})
	if err != nil {
		return fmt.Errorf("signing %s: %w", filepath.Base(file), err)
	}
	data, err := protojson.Marshal(bundle)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", filepath.Base(file), err)
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
