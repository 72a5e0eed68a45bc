// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// newImage returns an image of nothing but the files, one of which has to be what the entrypoint runs.
func newImage(files []file, platform v1.Platform, config v1.Config) (v1.Image, error) {
	if !slices.ContainsFunc(files, func(one file) bool {
		return one.executable && len(config.Entrypoint) > 0 && config.Entrypoint[0] == "/"+one.path
	}) {
		return nil, fmt.Errorf("the entrypoint %q is no executable file of the image", config.Entrypoint)
	}

	var content bytes.Buffer
	if err := writeTar(&content, files); err != nil {
		return nil, fmt.Errorf("packing the layer: %w", err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("compressing the layer: %w", err)
	}

	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: epoch}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: created}})
	if err != nil {
		return nil, fmt.Errorf("adding the layer: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	file = file.DeepCopy()
	file.Created = created
	file.OS, file.Architecture, file.Variant = platform.OS, platform.Architecture, platform.Variant
	file.Config = config
	image, err = mutate.ConfigFile(image, file)
	if err != nil {
		return nil, fmt.Errorf("setting the configuration: %w", err)
	}
	return image, nil
}
