// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// imageVariable names the archive of an image of the server, which is installed then.
	imageVariable = "MODELBOX_E2E_IMAGE"
	imageName     = "modelbox-apiserver:latest"

	volumeCapacity = "10Gi"
)

// TestInstallWorksAsReadmeSays installs the server in a cluster as the README tells people to, as a pod with no more
// rights than its manifests give it, and uses it.
func TestInstallWorksAsReadmeSays(t *testing.T) {
	image := os.Getenv(imageVariable)
	if image == "" {
		t.Skip(imageVariable + " names no image, as make test-install does")
	}
	requireContainerNode(t)
	p := framework.NewControlPlane(t, append(containerNodeFlags(), "--nodes=0", "--server=")...)
	if output, err := exec.Command(framework.Binary("localcluster"), "load", "--dir="+p.Dir, image).CombinedOutput(); err != nil {
		t.Fatalf("loading %s: %v\n%s", image, err, output)
	}
	provideVolume(t, p)

	script := strings.ReplaceAll(readmeBlock(t, "## Install", "kubectl apply"), "YOUR-IMAGE", imageName)
	runScript(t, p, script)

	n := p.NewNamespace(t)
	n.Kubectl.Run("apply", "--filename="+framework.Sample("modelbox.yaml"))
	n.AwaitReady("modelbox-sample")
	awaitAnswer(n, "modelbox-sample", "/")

	n.Kubectl.Run("delete", "pods", "--namespace="+framework.ServerNamespace, "--all")
	n.Eventually("another pod of the server serves the same boxes", func() error {
		_, err := n.Boxes.Get(n.Ctx, "modelbox-sample", metav1.GetOptions{})
		return err
	})
	if _, err := visit(http.MethodGet, nodePortURL(n, "modelbox-sample", 80)); err != nil {
		t.Errorf("the application noticed that the server was away: %v", err)
	}
}

// provideVolume gives the server's claim a volume, as a cluster with a storage class does by itself.
func provideVolume(t *testing.T, p *framework.ControlPlane) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(p.Dir, "node", "volume"), 0o755); err != nil {
		t.Fatal(err)
	}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "modelbox"},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(volumeCapacity)},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			// Where the directory of the cluster is on the node.
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/run/localcluster/node/volume"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{containerNode},
				}},
			}}}},
		},
	}
	if _, err := p.KubeClient.CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// readmeBlock returns the commands of the block in that section of the README that begins so.
func readmeBlock(t *testing.T, section, beginning string) string {
	t.Helper()
	readme, err := os.ReadFile(framework.InRepository("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "\n"+section+"\n")
	_, rest, found := strings.Cut(rest, "```\n"+beginning)
	block, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("the README has no block in %q that begins with %q", section, beginning)
	}
	return beginning + block
}

// runScript runs commands as a user of the cluster would in the folder of the repository, but writes to another one.
func runScript(t *testing.T, p *framework.ControlPlane, script string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(framework.InRepository("artifacts"), filepath.Join(folder, "artifacts")); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "bash", "-o", "errexit", "-o", "nounset", "-o", "pipefail", "-c", script)
	command.Dir = folder
	command.Env = append(os.Environ(),
		"KUBECONFIG="+p.Kubeconfig(),
		"KUBERC=off",
		fmt.Sprintf("PATH=%s:%s", filepath.Dir(framework.Binary("kubectl")), os.Getenv("PATH")))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	} else {
		t.Logf("%s", output)
	}
}
