// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package set

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// newFolder returns a folder with a text, a binary file, and what is no file.
func newFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{"web.conf": "workers 4;", "logo.ico": "\xff\x00", "empty": "", filepath.Join("below", "other"): "no"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestReadFiles(t *testing.T) {
	folder := newFolder(t)
	conf := filepath.Join(folder, "web.conf")
	if err := os.WriteFile(filepath.Join(folder, "below", "no key"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name            string
		files, literals []string
		want            map[string]string
		fails           string
	}{
		{"a file", []string{conf}, nil, map[string]string{"web.conf": "workers 4;"}, ""},
		{"a file by another key", []string{"main=" + conf}, nil, map[string]string{"main": "workers 4;"}, ""},
		{"a directory", []string{folder}, nil, map[string]string{"web.conf": "workers 4;", "logo.ico": "\xff\x00", "empty": ""}, ""},
		{"a directory and a value", []string{folder}, []string{"mode=a=b"}, map[string]string{"web.conf": "workers 4;", "logo.ico": "\xff\x00", "empty": "", "mode": "a=b"}, ""},
		{"a directory by a key", []string{"all=" + folder}, nil, nil, "cannot give a key name for a directory path"},
		{"a file twice", []string{folder, conf}, nil, nil, `cannot add key "web.conf", another key by that name already exists`},
		{"a file that is not there", []string{"nope"}, nil, nil, "error reading nope: no such file or directory"},
		{"a name that is no key", []string{filepath.Join(folder, "below")}, nil, nil, `"no key" is not a valid key name for a ConfigMap: `},
		{"a value without a key", nil, []string{"=b"}, nil, "invalid literal source =b, expected key=value"},
	} {
		t.Run(row.name, func(t *testing.T) {
			read, err := readFiles(row.files, row.literals)
			if row.fails != "" {
				if err == nil || !strings.HasPrefix(err.Error(), row.fails) {
					t.Errorf("got %v, want %s", err, row.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for key, content := range read.contents {
				got[key] = string(content)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSetConfig(t *testing.T) {
	type config = modelv1.ModelBoxConfig
	before := config{MountPath: "/etc/web", Rollout: modelv1.ConfigRolloutLive, Data: map[string]string{"web.conf": "old", "other": "b"}}
	for _, row := range []struct {
		name    string
		options configOptions
		want    []config
		fails   string
	}{
		{"files of a config", configOptions{files: &files{map[string][]byte{"web.conf": []byte("new"), "logo.ico": {0xff}}}}, []config{{
			MountPath: "/etc/web", Rollout: modelv1.ConfigRolloutLive, Data: map[string]string{"web.conf": "new", "other": "b"}, BinaryData: map[string][]byte{"logo.ico": {0xff}}}}, ""},
		{"a file that becomes binary", configOptions{files: &files{map[string][]byte{"web.conf": {0xff}}}}, []config{{
			MountPath: "/etc/web", Rollout: modelv1.ConfigRolloutLive, Data: map[string]string{"other": "b"}, BinaryData: map[string][]byte{"web.conf": {0xff}}}}, ""},
		{"all files", configOptions{Prune: true, files: &files{map[string][]byte{"web.conf": []byte("new")}}}, []config{{
			MountPath: "/etc/web", Rollout: modelv1.ConfigRolloutLive, Data: map[string]string{"web.conf": "new"}}}, ""},
		{"another path", configOptions{MountPath: "/etc/nginx", files: &files{}}, []config{{MountPath: "/etc/nginx", Rollout: modelv1.ConfigRolloutLive, Data: before.Data}}, ""},
		{"another config", configOptions{Config: "rules", MountPath: "/rules", files: &files{map[string][]byte{"a": nil}}},
			[]config{before, {Name: "rules", MountPath: "/rules", Data: map[string]string{"a": ""}}}, ""},
		{"another config without a path", configOptions{Config: "rules", files: &files{}}, nil, `has no config "rules": --mount-path is required for a new config`},
	} {
		t.Run(row.name, func(t *testing.T) {
			box := &modelv1.ModelBox{}
			box.Spec.Configs = []config{*before.DeepCopy()}
			err := row.options.setConfig(box)
			if row.fails != "" {
				if err == nil || err.Error() != row.fails {
					t.Errorf("got %v, want %s", err, row.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, box.Spec.Configs); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
