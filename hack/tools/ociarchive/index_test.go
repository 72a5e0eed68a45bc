// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestIndexHasTheImagesOfAllPlatforms(t *testing.T) {
	// Both images have the same layer.
	folder := sources(t, 0o755, 0o644, epoch)
	var archives []string
	for _, platform := range []string{"linux/amd64", "linux/arm64"} {
		archive := filepath.Join(t.TempDir(), "app.tar")
		if err := run([]string{"-name", "app:v1", "-platform", platform, "-entrypoint", `["/app"]`, "-output", archive, filepath.Join(folder, "app") + "=/app"}); err != nil {
			t.Fatal(err)
		}
		archives = append(archives, archive)
	}
	output := filepath.Join(t.TempDir(), "all.tar")
	if err := run(append([]string{"index", "-name", "app:v1", "-output", output}, archives...)); err != nil {
		t.Fatal(err)
	}

	outer := readLayout(t, output)
	if err := validate.Index(outer); err != nil {
		t.Errorf("the OCI layout is not valid: %v", err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].MediaType != types.OCIImageIndex {
		t.Fatalf("the layout has %v, want one index", manifest.Manifests)
	}
	if tag := manifest.Manifests[0].Annotations[referenceName]; tag != "v1" {
		t.Errorf("%s is %q, want v1", referenceName, tag)
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, image := range joined.Manifests {
		platforms = append(platforms, image.Platform.String())
		if len(image.Annotations) > 0 {
			t.Errorf("the image for %s is annotated: %v", image.Platform, image.Annotations)
		}
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestIndexIsRefused(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no archive ", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "all.tar")
	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"no output", []string{"-name", "app", text}, "-output is required"},
		{"no archive", []string{"-name", "app", "-output", output}, "there is no archive to join"},
		{"no name", []string{"-output", output, text}, "reading -name"},
		{"an archive that is none", []string{"-name", "app", "-output", output, text}, "reading " + text},
		{"an archive that is not there", []string{"-name", "app", "-output", output, text + "-none"}, "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := run(append([]string{"index"}, row.args...)); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got error %v, want one with %q", err, row.want)
			}
			if _, err := os.Stat(output); err == nil {
				t.Error("an archive was written")
			}
		})
	}
}
