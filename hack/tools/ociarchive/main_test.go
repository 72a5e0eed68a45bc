// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// An archive of one program and one folder, as both kinds of readers see it.
func TestArchive(t *testing.T) {
	output := build(t, sources(t, 0o755, 0o644, time.Now()))

	index := readLayout(t, output)
	if err := validate.Index(index); err != nil {
		t.Errorf("the OCI layout is not valid: %v", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %d images, want 1", len(manifest.Manifests))
	}
	described := manifest.Manifests[0]
	// containerd looks an image up by its full name, with the default registry.
	if full := described.Annotations[containerdName]; !strings.HasSuffix(full, "/library/app:v1") {
		t.Errorf("%s is %q, want the full name of app:v1", containerdName, full)
	}
	if tag := described.Annotations[referenceName]; tag != "v1" {
		t.Errorf("%s is %q, want v1", referenceName, tag)
	}
	if diff := cmp.Diff(&v1.Platform{OS: "linux", Architecture: "arm64"}, described.Platform); diff != "" {
		t.Errorf("platform (-want +got):\n%s", diff)
	}

	image, err := index.Image(described.Digest)
	if err != nil {
		t.Fatal(err)
	}
	checkConfig(t, image)
	checkLayer(t, image)

	tag, err := name.NewTag("app:v1")
	if err != nil {
		t.Fatal(err)
	}
	docker, err := tarball.ImageFromPath(output, &tag)
	if err != nil {
		t.Fatalf("reading the archive as docker does: %v", err)
	}
	if err := validate.Image(docker); err != nil {
		t.Errorf("the image that docker reads is not valid: %v", err)
	}
	checkConfig(t, docker)
}

func checkConfig(t *testing.T, image v1.Image) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Architecture != "arm64" {
		t.Errorf("the image is for %s/%s, want linux/arm64", config.OS, config.Architecture)
	}
	want := v1.Config{
		User:         "65532:65532",
		Entrypoint:   []string{"/bin/app", "serve"},
		ExposedPorts: map[string]struct{}{"8443/tcp": {}, "53/udp": {}},
	}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func checkLayer(t *testing.T, image v1.Image) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	if len(layers) != 1 {
		t.Fatalf("the image has %d layers, want 1", len(layers))
	}
	if mediaType, err := layers[0].MediaType(); err != nil || mediaType != types.OCILayer {
		t.Errorf("the layer is %s (%v), want %s", mediaType, err, types.OCILayer)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()

	type entry struct {
		Name    string
		Mode    int64
		Content string
	}
	var got []entry
	readTar(t, content, func(header *tar.Header, content []byte) {
		got = append(got, entry{header.Name, header.Mode, string(content)})
		if header.Uid != 0 || header.Gid != 0 || !header.ModTime.Equal(epoch) {
			t.Errorf("%s is of %d:%d and %v, want 0:0 and %v", header.Name, header.Uid, header.Gid, header.ModTime, epoch)
		}
	})
	want := []entry{
		{"bin/", 0o755, ""},
		{"bin/app", 0o755, "program"},
		{"etc/", 0o755, ""},
		{"etc/app/", 0o755, ""},
		{"etc/app/a", 0o644, "a"},
		{"etc/app/more/", 0o755, ""},
		{"etc/app/more/b", 0o644, "b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the layer (-want +got):\n%s", diff)
	}
}

func TestSameFilesAreSameBytes(t *testing.T) {
	first := build(t, sources(t, 0o755, 0o644, time.Unix(1, 0)))
	second := build(t, sources(t, 0o700, 0o600, time.Unix(2, 0)))

	want, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Error("two archives of the same files differ")
	}
}

func TestRefused(t *testing.T) {
	folder := sources(t, 0o755, 0o644, epoch)
	app := filepath.Join(folder, "app") + "=/app"
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("app", link); err != nil {
		t.Fatal(err)
	}

	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"no name", []string{"-name", "", app}, "-name is required"},
		{"no entrypoint", []string{"-entrypoint", "", app}, "-entrypoint is required"},
		{"a name that is none", []string{"-name", "App", app}, "reading -name App"},
		{"a digest for a name", []string{"-name", "app@sha256:" + strings.Repeat("0", 64), app}, "has no digest"},
		{"an entrypoint in the form of a shell", []string{"-entrypoint", "/app", app}, "reading -entrypoint /app"},
		{"an entrypoint of nothing", []string{"-entrypoint", "[]", app}, "is no executable file of the image"},
		{"an entrypoint that is not there", []string{"-entrypoint", `["/other"]`, app}, "is no executable file of the image"},
		{"an entrypoint that cannot be run", []string{"-entrypoint", `["/etc/a"]`, app, filepath.Join(folder, "config") + "=/etc"},
			"is no executable file of the image"},
		{"no files", nil, "nothing to put into the image"},
		{"no place in the image", []string{filepath.Join(folder, "app")}, "is not <file or folder>="},
		{"a relative place in the image", []string{filepath.Join(folder, "app") + "=app"}, "is not <file or folder>="},
		{"a file that does not exist", []string{app, filepath.Join(folder, "none") + "=/none"}, "no such file"},
		{"a symbolic link", []string{app, link + "=/link"}, "neither a file nor a folder"},
		{"two files in one place", []string{app, app}, "there is one already"},
	} {
		t.Run(row.name, func(t *testing.T) {
			output := filepath.Join(t.TempDir(), "app.tar")
			args := []string{"-name", "app", "-platform", "linux/amd64", "-entrypoint", `["/app"]`, "-output", output}
			err := run(append(args, row.args...))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got error %v, want one with %q", err, row.want)
			}
		})
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	folder := sources(t, 0o755, 0o644, epoch)
	parent := t.TempDir()
	output := filepath.Join(parent, "folder")
	if err := os.Mkdir(output, 0o755); err != nil {
		t.Fatal(err)
	}

	err := run([]string{"-name", "app", "-platform", "linux/amd64", "-entrypoint", `["/app"]`, "-output", output,
		filepath.Join(folder, "app") + "=/app"})
	if err == nil {
		t.Error("a folder was overwritten")
	}
	left, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Name() != "folder" {
		t.Errorf("beside the folder it left %v", left)
	}
}

// sources returns a folder with the program app and the folder config.
func sources(t *testing.T, programMode, fileMode os.FileMode, modified time.Time) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "config", "more"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		path, content string
		mode          os.FileMode
	}{
		{"app", "program", programMode},
		{"config/a", "a", fileMode},
		{"config/more/b", "b", fileMode},
	} {
		path := filepath.Join(folder, one.path)
		if err := os.WriteFile(path, []byte(one.content), one.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// build runs the command over what sources returns, and returns the archive's path.
func build(t *testing.T, folder string) string {
	t.Helper()
	output := filepath.Join(t.TempDir(), "app.tar")
	err := run([]string{
		"-name", "app:v1", "-platform", "linux/arm64", "-user", "65532:65532", "-expose", "8443", "-expose", "53/udp",
		"-entrypoint", `["/bin/app", "serve"]`, "-output", output,
		filepath.Join(folder, "config") + "=/etc/app", filepath.Join(folder, "app") + "=/bin/app",
	})
	if err != nil {
		t.Fatal(err)
	}
	return output
}

// readLayout unpacks the archive and reads it as an OCI image layout.
func readLayout(t *testing.T, archive string) v1.ImageIndex {
	t.Helper()
	opened, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()

	folder := t.TempDir()
	readTar(t, opened, func(header *tar.Header, content []byte) {
		path := filepath.Join(folder, header.Name)
		if header.Typeflag == tar.TypeDir {
			err = os.Mkdir(path, 0o755)
		} else {
			err = os.WriteFile(path, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func readTar(t *testing.T, from io.Reader, visit func(*tar.Header, []byte)) {
	t.Helper()
	archive := tar.NewReader(from)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		visit(header, content)
	}
}
