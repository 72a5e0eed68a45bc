// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

const (
	// unknown is what a build does not say of itself.
	unknown = "unknown"

	// libraries is the module whose version is that of the Kubernetes libraries: they are released together.
	libraries = "k8s.io/apiserver"
)

// Releases set these with -ldflags: they are built without what Go itself records of the repository.
var (
	gitVersion   = "v" + Current + ".0-dev"
	gitCommit    string
	gitTreeState string
)

// Info says what a program was built from.
type Info struct {
	// Version is that of the product, such as v1.0.3.
	Version string
	// Commit is that of the source, and TreeState "clean", or "dirty" where the source had changes that are not in it.
	Commit, TreeState string
	// Kubernetes is the version of the Kubernetes libraries, as Kubernetes counts: v1.37.2.
	Kubernetes string
	// GoVersion and Platform are what it was compiled with and for.
	GoVersion, Platform string
}

// Get returns what this program was built from. What is not known of it is "unknown".
var Get = sync.OnceValue(func() Info {
	build, _ := debug.ReadBuildInfo()
	return describe(build)
})

// String is what --version prints.
func (i Info) String() string {
	return fmt.Sprintf("%s (commit %s, %s), Kubernetes libraries %s, %s %s", i.Version, i.Commit, i.TreeState, i.Kubernetes, i.GoVersion, i.Platform)
}

// describe reads what Go records of a build, nil for nothing, where nothing else is said at the link.
func describe(build *debug.BuildInfo) Info {
	info := Info{
		Version:    gitVersion,
		Commit:     gitCommit,
		TreeState:  gitTreeState,
		Kubernetes: unknown,
		GoVersion:  runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
	}
	if build != nil {
		for _, module := range build.Deps {
			if module.Path == libraries {
				info.Kubernetes = kubernetesVersion(module)
			}
		}
	}
	if info.Commit == "" {
		info.Commit, info.TreeState = recordedCommit(build)
	}
	return info
}

// kubernetesVersion returns the version of Kubernetes that a version of its libraries belongs to: v1.37.2 for v0.37.2.
func kubernetesVersion(module *debug.Module) string {
	if module.Replace != nil {
		module = module.Replace
	}
	if rest, ok := strings.CutPrefix(module.Version, "v0."); ok {
		return "v1." + rest
	}
	return unknown
}

// recordedCommit returns what Go records of the repository where it is built from one.
func recordedCommit(build *debug.BuildInfo) (commit, treeState string) {
	commit, treeState = unknown, unknown
	if build == nil {
		return commit, treeState
	}
	for _, setting := range build.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			treeState = "dirty"
		case setting.Key == "vcs.modified":
			treeState = "clean"
		}
	}
	return commit, treeState
}
