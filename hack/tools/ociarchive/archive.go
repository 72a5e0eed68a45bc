// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"

	"github.com/distribution/reference"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// containerdName is the annotation with the full name, which containerd and podman take before any other.
	containerdName = "io.containerd.image.name"
	// referenceName is the OCI's own annotation, the tag.
	referenceName = "org.opencontainers.image.ref.name"
)

// writeArchive writes the image as an archive that is an OCI image layout, and what "docker save" writes as well: docker
// without containerd's image store reads nothing else.
func writeArchive(output string, image v1.Image, name reference.NamedTagged) error {
	files, err := blobs(image)
	if err != nil {
		return err
	}
	index, err := ociIndex(image, name)
	if err != nil {
		return err
	}
	manifest, err := dockerManifest(image, name)
	if err != nil {
		return err
	}
	files = append(files,
		layoutFile(),
		contentFile("index.json", index),
		contentFile("manifest.json", manifest))

	if err := writeWhole(output, files); err != nil {
		return fmt.Errorf("writing %s: %w", output, err)
	}
	return nil
}

// writeWhole writes the output file atomically.
func writeWhole(output string, files []file) error {
	partly, err := os.Create(output + ".partly")
	if err != nil {
		return err
	}
	defer os.Remove(partly.Name())
	defer partly.Close()
	if err := writeTar(partly, files); err != nil {
		return err
	}
	if err := partly.Close(); err != nil {
		return err
	}
	return os.Rename(partly.Name(), output)
}

// blobs returns the manifest, the configuration and the layers.
func blobs(image v1.Image) ([]file, error) {
	manifest, err := partial.Descriptor(image)
	if err != nil {
		return nil, fmt.Errorf("describing the manifest: %w", err)
	}
	manifestContent, err := image.RawManifest()
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	configName, err := image.ConfigName()
	if err != nil {
		return nil, fmt.Errorf("naming the configuration: %w", err)
	}
	configContent, err := image.RawConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	files := []file{
		contentFile(blobPath(manifest.Digest), manifestContent),
		contentFile(blobPath(configName), configContent),
	}

	layers, err := image.Layers()
	if err != nil {
		return nil, fmt.Errorf("reading the layers: %w", err)
	}
	for _, layer := range layers {
		described, err := partial.Descriptor(layer)
		if err != nil {
			return nil, fmt.Errorf("describing a layer: %w", err)
		}
		files = append(files, file{path: blobPath(described.Digest), size: described.Size, open: layer.Compressed})
	}
	return files, nil
}

func blobPath(digest v1.Hash) string {
	return path.Join("blobs", digest.Algorithm, digest.Hex)
}

// ociIndex returns index.json: where a reader of an OCI image layout begins.
func ociIndex(image v1.Image, name reference.NamedTagged) ([]byte, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	manifest, err := partial.Descriptor(image)
	if err != nil {
		return nil, fmt.Errorf("describing the manifest: %w", err)
	}
	return json.Marshal(v1.IndexManifest{
		SchemaVersion: 2,
		MediaType:     types.OCIImageIndex,
		Manifests: []v1.Descriptor{{
			MediaType:   manifest.MediaType,
			Digest:      manifest.Digest,
			Size:        manifest.Size,
			Platform:    config.Platform(),
			Annotations: nameAnnotations(name),
		}},
	})
}

// layoutFile marks the archive as an OCI image layout.
func layoutFile() file {
	return contentFile("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
}

func nameAnnotations(name reference.NamedTagged) map[string]string {
	return map[string]string{containerdName: name.String(), referenceName: name.Tag()}
}

// dockerManifest returns manifest.json: where a reader of what "docker save" writes begins.
func dockerManifest(image v1.Image, name reference.NamedTagged) ([]byte, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	described := tarball.Descriptor{
		Config:   blobPath(manifest.Config.Digest),
		RepoTags: []string{reference.FamiliarString(name)},
	}
	for _, layer := range manifest.Layers {
		described.Layers = append(described.Layers, blobPath(layer.Digest))
	}
	return json.Marshal(tarball.Manifest{described})
}
