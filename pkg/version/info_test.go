// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/version"
)

func TestVersionIsOfThisRelease(t *testing.T) {
	got, err := version.ParseSemantic(Get().Version)
	if err != nil {
		t.Fatal(err)
	}
	if want := version.MustParse(Current); got.Major() != want.Major() || got.Minor() != want.Minor() {
		t.Errorf("got %s, want one of %s", got, want)
	}
}

func TestInfoIsWhatGoRecordsUnlessTheLinkSays(t *testing.T) {
	kubernetes := []*debug.Module{{Path: "k8s.io/api", Version: "v0.1.0"}, {Path: libraries, Version: "v0.37.2"}}
	repository := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "c0ffee"}, {Key: "vcs.modified", Value: modified}}
	}
	for _, row := range []struct {
		name string
		// commit is what -ldflags say.
		commit string
		build  *debug.BuildInfo
		want   Info
	}{
		{"of a repository", "", &debug.BuildInfo{Deps: kubernetes, Settings: repository("false")}, Info{Commit: "c0ffee", TreeState: "clean", Kubernetes: "v1.37.2"}},
		{"of a repository with changes", "", &debug.BuildInfo{Deps: kubernetes, Settings: repository("true")}, Info{Commit: "c0ffee", TreeState: "dirty", Kubernetes: "v1.37.2"}},
		{"of an archive", "", &debug.BuildInfo{Deps: kubernetes}, Info{Commit: unknown, TreeState: unknown, Kubernetes: "v1.37.2"}},
		{"of a release", "decade", &debug.BuildInfo{Deps: kubernetes, Settings: repository("true")}, Info{Commit: "decade", TreeState: "clean", Kubernetes: "v1.37.2"}},
		{"with libraries of another version", "", &debug.BuildInfo{Deps: []*debug.Module{{Path: libraries, Version: "v0.37.2", Replace: &debug.Module{Version: "v0.36.1"}}}}, Info{Commit: unknown, TreeState: unknown, Kubernetes: "v1.36.1"}},
		{"with libraries of a folder", "", &debug.BuildInfo{Deps: []*debug.Module{{Path: libraries, Version: "v0.37.2", Replace: &debug.Module{Path: "../apiserver"}}}}, Info{Commit: unknown, TreeState: unknown, Kubernetes: unknown}},
		{"with nothing recorded", "", nil, Info{Commit: unknown, TreeState: unknown, Kubernetes: unknown}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.commit != "" {
				gitCommit, gitTreeState = row.commit, "clean"
				t.Cleanup(func() { gitCommit, gitTreeState = "", "" })
			}
			got := describe(row.build)
			if diff := cmp.Diff(row.want, got, cmpopts.IgnoreFields(Info{}, "Version", "GoVersion", "Platform")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
