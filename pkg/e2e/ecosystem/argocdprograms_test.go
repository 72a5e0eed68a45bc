// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// argoCD is Argo CD, as far as it compares and syncs Applications. Its API server, which also runs the actions, does not run.
type argoCD struct {
	n *framework.Namespace
	// cache is the address of the cache of its components.
	cache string
	// repoServer is the address of the component that reads repositories.
	repoServer string
	controller program
}

// argoCDDefaults are the objects that the API server of Argo CD creates.
const argoCDDefaults = `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ['*']
  destinations: [{namespace: '*', server: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
---
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret, namespace: argocd}
stringData: {server.secretkey: test}
`

// startArgoCD installs Argo CD with its own manifest, applies the patch of its ConfigMap as documented, and starts its components beside
// the control plane. They are stopped at the end of the test. The pods of its Deployments are simulated and do nothing.
func startArgoCD(n *framework.Namespace) *argoCD {
	n.T.Helper()
	administrate(n, "", "create", "namespace", "argocd")
	administrate(n, "", "apply", "--server-side", "--namespace=argocd", "--filename="+framework.Binary("argocd.yaml"))
	administrate(n, "", "--namespace=argocd", "patch", "configmap", "argocd-cm", "--type=merge",
		"--patch-file="+framework.InRepository("artifacts", "argocd", "argocd-cm.yaml"))
	awaitApplied(n, argoCDDefaults, "--server-side", "--force-conflicts")
	argo := &argoCD{n: n, cache: freeAddress(n.T), repoServer: freeAddress(n.T)}
	startProgram(n.T, argo.command("redis", argo.cache))
	host, port, _ := net.SplitHostPort(argo.repoServer)
	startProgram(n.T, argo.command("argocd-repo-server", "--redis="+argo.cache, "--disable-tls", "--client-ca-path=",
		"--address="+host, "--port="+port, "--metrics-address=127.0.0.1", fmt.Sprintf("--metrics-port=%d", framework.FreePort(n.T))))
	n.Eventually("the components accept connections", func() error {
		for _, address := range []string{argo.cache, argo.repoServer} {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				return err
			}
			connection.Close()
		}
		return nil
	})
	argo.controller = argo.startController()
	return argo
}

// startController starts the application controller. Without periodic comparisons, it compares an Application again only if it notices a
// change, or if the Application is refreshed.
func (argo *argoCD) startController() program {
	argo.n.T.Helper()
	return startProgram(argo.n.T, argo.command("argocd-application-controller", "--namespace=argocd", "--redis="+argo.cache,
		"--repo-server="+argo.repoServer, "--repo-server-plaintext", fmt.Sprintf("--metrics-port=%d", framework.FreePort(argo.n.T)),
		"--app-resync=0", "--persist-resource-health"))
}

func (argo *argoCD) command(arguments ...string) *exec.Cmd {
	command := argo.n.ControlPlane.ProgramCommand(argo.n.T.Context(), "argocd", arguments...)
	command.Env = append(command.Env, "PATH="+framework.Binary("")+":"+os.Getenv("PATH"),
		"ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false", "ARGOCD_SYNC_WAVE_DELAY=0",
		"TMPDIR="+newRemovableDir(argo.n.T), "ARGOCD_ASK_PASS_SOCK="+filepath.Join(argo.n.ControlPlane.Dir, "run", "argocd.sock"))
	return command
}

// newRemovableDir is like t.TempDir, for a program that removes the permission to list its directories.
func newRemovableDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				err = os.Chmod(path, 0o700)
			}
			return err
		})
	})
	return dir
}

// treeNode is an object in the tree of an Application, with the objects that it belongs to.
type treeNode struct {
	Kind, Name string
	ParentRefs []struct{ Kind, Name string }
}

// readTree returns the tree of an Application that the user interface shows.
func (argo *argoCD) readTree(application string) ([]treeNode, error) {
	var tree struct{ Nodes []treeNode }
	err := argo.readCache("resources-tree", application, &tree)
	return tree.Nodes, err
}

// managedResource is an object of an Application, and what it would be after a sync.
type managedResource struct {
	Kind, Name                              string
	NormalizedLiveState, PredictedLiveState string
}

// readManagedResources returns the results of the last comparison of an Application that the user interface shows.
func (argo *argoCD) readManagedResources(application string) ([]managedResource, error) {
	var resources []managedResource
	err := argo.readCache("managed-resources", application, &resources)
	return resources, err
}

// readCache reads what the controller has written about an Application for the API server of Argo CD.
func (argo *argoCD) readCache(what, application string, into any) error {
	connection, err := net.Dial("tcp", argo.cache)
	if err != nil {
		return err
	}
	defer connection.Close()
	key := fmt.Sprintf("app|%s|%s|%s.gz", what, application, cacheVersion)
	if _, err := fmt.Fprintf(connection, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n", len(key), key); err != nil {
		return err
	}
	reply := bufio.NewReader(connection)
	header, err := reply.ReadString('\n')
	if err != nil {
		return err
	}
	length, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(header, "$")))
	if err != nil || length < 0 {
		return fmt.Errorf("the cache replies %q", header)
	}
	content, err := gzip.NewReader(io.LimitReader(reply, int64(length)))
	if err != nil {
		return err
	}
	return json.NewDecoder(content).Decode(into)
}

// cacheVersion is the version of the format of the cache.
const cacheVersion = "1.8.3"
