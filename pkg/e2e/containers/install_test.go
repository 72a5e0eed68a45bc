// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	// imagesVariable is the environment variable with the directory of the images to install.
	imagesVariable = "MODELBOX_E2E_IMAGES"

	volumeCapacity = "10Gi"
	// volumesOfOne is the maximum number of volumes of one way to install: the number of members of an etcd.
	volumesOfOne = 3

	readme  = "README.md"
	operate = "docs/operate.md"

	// sampleBox and shop are the application: a box, and a stack with a box with another name.
	sampleBox = "modelbox-sample"
	shopBox   = "shop-api"
	shop      = `{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: shop}, spec: {components: [{name: api, box: {image: "nginx:1.7.9", ports: [{port: 80}]}}]}}`
)

// isWrong matches the findings of the plugin about an installation with problems.
var isWrong = regexp.MustCompile(`(?m)^(Warning|Failed|Unknown) `)

// block selects the commands in a section of a document by their beginning.
type block struct{ document, section, beginning string }

var (
	awaitInstalled   = block{readme, "## Install", "kubectl -n modelbox-system rollout status"}
	deleteAll        = block{readme, "### Uninstall", "kubectl delete modelstacks,modelboxes,networks --all"}
	orphanAll        = block{readme, "### Uninstall", "kubectl delete modelstacks --all"}
	uninstall        = block{readme, "### Uninstall", "kubectl delete -k"}
	uninstallRelease = block{operate, "## Uninstall", "helm uninstall"}
	takeAway         = block{operate, "## Uninstall", "kubectl delete apiservice"}
	deleteLabelled   = block{operate, "## Uninstall", "kubectl delete deployments"}
)

// TestInstallWorksAsReadmeSays installs the server in an empty cluster in each way that the README tells people to, as
// pods with no more permissions than the manifests grant, uses it, and uninstalls it.
func TestInstallWorksAsReadmeSays(t *testing.T) {
	images := os.Getenv(imagesVariable)
	if images == "" {
		t.Skip(imagesVariable + " names no folder, as make test-install does")
	}
	framework.RequireContainerNode(t)
	p := framework.NewControlPlane(t, append(framework.ContainerNodeFlags(), "--nodes=0", "--server=")...)
	for _, image := range []string{"modelbox-apiserver.tar", "etcd.tar"} {
		archive := filepath.Join(images, image)
		if output, err := exec.Command(framework.Binary("localcluster"), "load", "--dir="+p.Dir, archive).CombinedOutput(); err != nil {
			t.Fatalf("loading %s: %v\n%s", archive, err, output)
		}
	}
	namespace := p.NewNamespace(t)
	defineCertManager(namespace)
	for _, test := range []struct {
		name    string
		install block
		// help does the steps of other administrators before the server can start.
		help func(*application)
		use  func(*application)
	}{
		{
			"one server from a file is removed without a trace",
			block{readme, "## Install", "kubectl apply -f"},
			nil,
			func(a *application) {
				a.expectServedByOtherPods()
				a.run(deleteAll, uninstall)
			},
		},
		{
			"one server from the repository orphans the applications",
			block{readme, "## Install", "kubectl apply -k artifacts/overlays/standalone"},
			nil,
			func(a *application) {
				a.run(orphanAll, uninstall)
				a.expectUntouched()
				a.expectNoOwners()
				a.run(deleteLabelled)
			},
		},
		{
			"what three servers with an etcd have left another one takes back",
			block{readme, "## Install", "kubectl apply -k artifacts/overlays/ha-with-etcd"},
			nil,
			func(a *application) {
				a.expectServedByOtherPods()
				a.runOnce("modelbox-etcd-certificates")
				a.run(takeAway)
				a.expectUntouched()
				provideVolumes(a.T, a.ControlPlane)
				a.run(block{readme, "## Install", "kubectl apply -k artifacts/overlays/standalone"}, awaitInstalled)
				a.AwaitReady(sampleBox)
				a.AwaitReady(shopBox)
				a.expectUntouched()
				a.run(deleteAll, uninstall)
			},
		},
		{
			"a release of Helm that goes before its applications leaves what has a label",
			block{readme, "## Install", "helm install"},
			nil,
			func(a *application) {
				a.run(uninstallRelease)
				a.expectUntouched()
				a.run(deleteLabelled)
			},
		},
		{
			"one server with a certificate of cert-manager",
			block{operate, "## Certificates", "kubectl apply -k artifacts/overlays/cert-manager"},
			(*application).runCertManager,
			func(a *application) {
				secrets, err := a.ControlPlane.KubeClient.CoreV1().Secrets(framework.ServerNamespace).List(a.Ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=modelbox-apiserver"})
				if err != nil {
					a.T.Fatal(err)
				}
				framework.ExpectEqual(a.T, "Secrets that the server has made", 0, len(secrets.Items))
				a.run(deleteAll, uninstall)
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			provideVolumes(t, p)
			n := namespace.In(t)
			before := everything(n)
			a := &application{Namespace: n}
			a.run(test.install)
			if test.help != nil {
				test.help(a)
			}
			a.run(awaitInstalled)
			a.start()
			a.expectNothingWrong()
			test.use(a)
			n.Eventually("nothing is left", func() error {
				if diff := cmp.Diff(before, everything(n)); diff != "" {
					return fmt.Errorf("the cluster (+) is not what it was (-):\n%s", diff)
				}
				return nil
			})
		})
	}
}

// application is an application in a namespace that runs while servers are installed and uninstalled.
type application struct {
	*framework.Namespace
	deployments, pods map[types.UID]string
}

func (a *application) start() {
	a.T.Helper()
	a.AwaitCollectorWatches()
	a.Kubectl.Run("apply", "--filename="+framework.Sample("modelbox.yaml"))
	a.Kubectl.RunWithInput(shop, "apply", "--filename=-")
	a.AwaitReady(sampleBox)
	a.AwaitReady(shopBox)
	awaitAnswer(a.Namespace, sampleBox, "/")
	a.deployments, a.pods = a.running()
}

// expectNothingWrong fails the test if the plugin finds problems of the installation.
func (a *application) expectNothingWrong() {
	a.T.Helper()
	command := exec.CommandContext(a.Ctx, framework.Binary("kubectl-modelbox"), "doctor")
	command.Env = append(os.Environ(), "KUBECONFIG="+a.ControlPlane.Kubeconfig())
	output, err := command.CombinedOutput()
	if err != nil || isWrong.Match(output) {
		a.T.Errorf("kubectl modelbox doctor: %v\n%s", err, output)
	}
}

// running returns the names of the Deployments and of the pods.
func (a *application) running() (deployments, pods map[types.UID]string) {
	a.T.Helper()
	deploymentList, err := a.Deployments.List(a.Ctx, metav1.ListOptions{})
	if err != nil {
		a.T.Fatal(err)
	}
	podList, err := a.Pods.List(a.Ctx, metav1.ListOptions{})
	if err != nil {
		a.T.Fatal(err)
	}
	deployments, pods = map[types.UID]string{}, map[types.UID]string{}
	for _, deployment := range deploymentList.Items {
		deployments[deployment.UID] = deployment.Name
	}
	for _, pod := range podList.Items {
		pods[pod.UID] = pod.Name
	}
	return deployments, pods
}

// expectUntouched fails the test unless the same Deployments and pods exist as at the start, and respond.
func (a *application) expectUntouched() {
	a.T.Helper()
	deployments, pods := a.running()
	framework.ExpectEqual(a.T, "Deployments", fmt.Sprint(a.deployments), fmt.Sprint(deployments))
	framework.ExpectEqual(a.T, "pods", fmt.Sprint(a.pods), fmt.Sprint(pods))
	service := a.GetService(sampleBox)
	framework.ExpectEqual(a.T, "ports of the Service", 1, len(service.Spec.Ports))
}

func (a *application) expectNoOwners() {
	a.T.Helper()
	for _, name := range []string{sampleBox, shopBox} {
		framework.ExpectEqual(a.T, "owners of Deployment "+name, 0, len(a.GetDeployment(name).OwnerReferences))
		framework.ExpectEqual(a.T, "owners of Service "+name, 0, len(a.GetService(name).OwnerReferences))
	}
}

// expectServedByOtherPods deletes all pods of the servers, which must not affect the application.
func (a *application) expectServedByOtherPods() {
	a.T.Helper()
	a.Kubectl.Run("delete", "pods", "--namespace="+framework.ServerNamespace, "--selector=app.kubernetes.io/name=modelbox-apiserver")
	a.Eventually("other pods serve the same boxes", func() error {
		_, err := a.Boxes.Get(a.Ctx, sampleBox, metav1.GetOptions{})
		return err
	})
	if _, err := visit(http.MethodGet, nodePortURL(a.Namespace, sampleBox, 80)); err != nil {
		a.T.Errorf("the application noticed that the servers were down: %v", err)
	}
	a.expectUntouched()
}

// runOnce runs the CronJob now.
func (a *application) runOnce(cronJob string) {
	a.T.Helper()
	a.Kubectl.Run("create", "job", "now", "--namespace="+framework.ServerNamespace, "--from=cronjob/"+cronJob)
	a.Kubectl.Run("wait", "job/now", "--namespace="+framework.ServerNamespace, "--for=condition=Complete", "--timeout="+framework.Patience.String())
}

// defineCertManager makes the cluster serve the kinds of cert-manager for certificates.
func defineCertManager(n *framework.Namespace) {
	n.T.Helper()
	kinds := []string{"certificaterequests", "certificates", "clusterissuers", "issuers"}
	for _, kind := range kinds {
		n.Kubectl.Run("create", "--filename="+framework.InModule(n.T, "hack/certmanager", "github.com/cert-manager/cert-manager",
			"deploy/crds", "cert-manager.io_"+kind+".yaml"))
	}
	n.Eventually("the kinds of cert-manager are served", func() error {
		served := everything(n)
		for _, kind := range kinds {
			if _, found := served[kind+".cert-manager.io/v1"]; !found {
				return fmt.Errorf("%s are not", kind)
			}
		}
		return nil
	})
}

// runCertManager runs cert-manager outside of the cluster until the test ends, and waits until it has issued the certificate.
func (a *application) runCertManager() {
	a.T.Helper()
	command := exec.Command(framework.Binary("cert-manager"))
	command.Env = append(os.Environ(), "KUBECONFIG="+a.ControlPlane.Kubeconfig())
	log := filepath.Join(a.T.TempDir(), "cert-manager.log")
	ended, err := framework.StartLoggedProcess(command, log, syscall.SIGTERM)
	if err != nil {
		a.T.Fatal(err)
	}
	a.T.Cleanup(func() {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			a.T.Errorf("ending cert-manager: %v", err)
		}
		<-ended
		if text, err := os.ReadFile(log); a.T.Failed() {
			a.T.Logf("cert-manager says (%v):\n%s", err, text)
		}
	})
	a.Kubectl.Run("wait", "certificates.cert-manager.io/modelbox-apiserver", "--namespace="+framework.ServerNamespace, "--for=condition=Ready", "--timeout="+framework.Patience.String())
}

// run runs the commands of the blocks in a copy of the directory of the repository, as a user of the cluster.
func (a *application) run(blocks ...block) {
	a.T.Helper()
	folder := a.T.TempDir()
	for _, name := range []string{"artifacts", "_output"} {
		if err := os.Symlink(framework.InRepository(name), filepath.Join(folder, name)); err != nil {
			a.T.Fatal(err)
		}
	}
	for _, block := range blocks {
		command := exec.CommandContext(a.Ctx, "bash", "-o", "errexit", "-o", "nounset", "-o", "pipefail", "-c", block.read(a.T))
		command.Dir = folder
		command.Env = append(os.Environ(),
			"KUBECONFIG="+a.ControlPlane.Kubeconfig(),
			"KUBERC=off",
			fmt.Sprintf("PATH=%s:%s", filepath.Dir(framework.Binary("kubectl")), os.Getenv("PATH")))
		output, err := command.CombinedOutput()
		a.T.Logf("%s:\n%s", block.beginning, output)
		if err != nil {
			a.T.Fatal(err)
		}
	}
}

// read returns the commands.
func (b block) read(t *testing.T) string {
	t.Helper()
	document, err := os.ReadFile(framework.InRepository(b.document))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(document), "\n"+b.section+"\n")
	_, rest, found := strings.Cut(rest, "```\n"+b.beginning)
	commands, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("%s has no block in %q that begins with %q", b.document, b.section, b.beginning)
	}
	return b.beginning + commands
}

// everything returns the names of all objects by resource, without objects that the cluster creates and deletes.
func everything(n *framework.Namespace) map[string][]string {
	n.T.Helper()
	lists, err := n.ControlPlane.KubeClient.Discovery().ServerPreferredResources()
	if err != nil {
		n.T.Fatal(err)
	}
	client, err := metadata.NewForConfig(n.ControlPlane.Config)
	if err != nil {
		n.T.Fatal(err)
	}
	all := map[string][]string{}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			n.T.Fatal(err)
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || r.Name == "events" || r.Name == "persistentvolumes" {
				continue
			}
			key := r.Name + "." + group.String()
			all[key] = []string{}
			objects, err := client.Resource(group.WithResource(r.Name)).List(n.Ctx, metav1.ListOptions{})
			if err != nil {
				n.T.Fatalf("listing %s: %v", key, err)
			}
			for _, object := range objects.Items {
				all[key] = append(all[key], object.Namespace+"/"+object.Name)
			}
			slices.Sort(all[key])
		}
	}
	return all
}

// provideVolumes creates volumes for the claims of one way to install, like a storage class with a provisioner.
func provideVolumes(t *testing.T, p *framework.ControlPlane) {
	t.Helper()
	for range volumesOfOne {
		folder, err := os.MkdirTemp(filepath.Join(p.Dir, "node"), "volume-")
		if err != nil {
			t.Fatal(err)
		}
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "modelbox-"},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(volumeCapacity)},
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				// The directory of the cluster on the node.
				PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/run/localcluster/node/" + filepath.Base(folder)}},
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
}
