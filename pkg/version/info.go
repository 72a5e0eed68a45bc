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
	// unknown is the value of information that a build does not have.
	unknown = "unknown"

	// libraries is the module with the version of the Kubernetes libraries, which are released together.
	libraries = "k8s.io/apiserver"
)

// Releases set these with -ldflags, because they are built without the VCS information of Go.
var (
	gitVersion   = "v" + Current + ".0-dev"
	gitCommit    string
	gitTreeState string
)

// Info describes the build of a program.
type Info struct {
	// Version is the version of the product, such as v1.0.3.
	Version string
	// Commit is the commit of the source. TreeState is "clean", or "dirty" if the source had uncommitted changes.
	Commit, TreeState string
	// Kubernetes is the version of Kubernetes that the libraries belong to, such as v1.37.2.
	Kubernetes string
	// GoVersion is the version of the compiler. Platform is the operating system and the architecture, such as linux/amd64.
	GoVersion, Platform string
}

// Get returns the build information of this program. Unknown fields are "unknown".
var Get = sync.OnceValue(func() Info {
	build, _ := debug.ReadBuildInfo()
	return describe(build)
})

// String returns the output of --version.
func (i Info) String() string {
	return fmt.Sprintf("%s (commit %s, %s), Kubernetes libraries %s, %s %s", i.Version, i.Commit, i.TreeState, i.Kubernetes, i.GoVersion, i.Platform)
}

// describe returns the values that are set with -ldflags, and otherwise the values that Go records in a build. build may be nil.
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

// recordedCommit returns the VCS information that Go records in a build, empty if it has none.
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
