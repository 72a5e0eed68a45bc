// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// application is an Application of Argo CD. Its manifests are files in a git repository of the test, and its objects are in the namespace
// of the test.
type application struct {
	argo       *argoCD
	n          *framework.Namespace
	name       string
	repository string
	options    applicationOptions
}

type applicationOptions struct {
	// name is the name of the namespace by default.
	name        string
	syncOptions []string
	// automated syncs all changes in git and in the cluster.
	automated bool
}

// applicationStatus has the fields of the status of an Application that the tests read.
type applicationStatus struct {
	Sync           struct{ Status, Revision string }
	Health         struct{ Status string }
	OperationState struct{ Phase, Message string }
	Conditions     []struct{ Type, Message string }
	Resources      []resourceStatus
}

type resourceStatus struct {
	Kind, Name, Status string
	Health             struct{ Status, Message string }
}

// newApplication creates an Application with a repository with these files. It is deleted at the end of the test, without its objects.
func (argo *argoCD) newApplication(n *framework.Namespace, options applicationOptions, files map[string]string) *application {
	n.T.Helper()
	a := &application{argo: argo, n: n, name: options.name, repository: n.T.TempDir(), options: options}
	if a.name == "" {
		a.name = n.Name
	}
	a.git("init", "--quiet", "--initial-branch=main")
	a.write(files)
	policy := fmt.Sprintf("syncOptions: [%s]", strings.Join(options.syncOptions, ", "))
	if options.automated {
		policy += ", automated: {prune: true, selfHeal: true}"
	}
	administrate(n, fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: %s
  namespace: argocd
  annotations: {argocd.argoproj.io/compare-options: ServerSideDiff=true}
spec:
  project: default
  source: {repoURL: "file://%s", targetRevision: main, path: .}
  destination: {server: https://kubernetes.default.svc, namespace: %s}
  syncPolicy: {%s}
`, a.name, a.repository, n.Name, policy), "create", "--filename=-")
	n.T.Cleanup(func() {
		_ = a.client().Delete(context.WithoutCancel(n.Ctx), a.name, metav1.DeleteOptions{})
	})
	return a
}

// in returns the Application for a subtest.
func (a *application) in(n *framework.Namespace) *application {
	in := *a
	in.n = n
	return &in
}

func (a *application) client() dynamic.ResourceInterface {
	applications := schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	return a.n.ControlPlane.DynamicClient.Resource(applications).Namespace("argocd")
}

func (a *application) git(arguments ...string) string {
	a.n.T.Helper()
	arguments = append([]string{"-C", a.repository, "-c", "user.name=test", "-c", "user.email=test@example.com"}, arguments...)
	output, err := exec.CommandContext(a.n.Ctx, "git", arguments...).CombinedOutput()
	if err != nil {
		a.n.T.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return strings.TrimSpace(string(output))
}

// write replaces the files of the repository.
func (a *application) write(files map[string]string) {
	a.n.T.Helper()
	former, err := filepath.Glob(filepath.Join(a.repository, "*.yaml"))
	if err != nil {
		a.n.T.Fatal(err)
	}
	for _, path := range former {
		if err := os.Remove(path); err != nil {
			a.n.T.Fatal(err)
		}
	}
	for name, content := range files {
		writeFile(a.n.T, filepath.Join(a.repository, name+".yaml"), []byte(content))
	}
	a.git("add", "--all")
	a.git("commit", "--quiet", "--message=test")
}

// commit replaces the files of the repository, and lets Argo CD read them.
func (a *application) commit(files map[string]string) {
	a.n.T.Helper()
	a.write(files)
	a.refresh()
}

// refresh lets Argo CD compare the Application again, and waits for the result.
func (a *application) refresh() {
	a.n.T.Helper()
	const annotation = "argocd.argoproj.io/refresh"
	a.patch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{annotation: "normal"}}})
	a.n.Eventually("Argo CD has compared the Application", func() error {
		object, err := a.client().Get(a.n.Ctx, a.name, metav1.GetOptions{})
		if err == nil && object.GetAnnotations()[annotation] != "" {
			err = errors.New("it is to be compared")
		}
		return err
	})
}

// compareWith sets the options of comparisons, and lets Argo CD compare the Application again.
func (a *application) compareWith(options string) {
	a.n.T.Helper()
	a.patch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"argocd.argoproj.io/compare-options": options}}})
	a.refresh()
}

func (a *application) patch(patch map[string]any) {
	a.n.T.Helper()
	content, err := json.Marshal(patch)
	if err == nil {
		_, err = a.client().Patch(a.n.Ctx, a.name, types.MergePatchType, content, metav1.PatchOptions{})
	}
	if err != nil {
		a.n.T.Fatalf("changing Application %s: %v", a.name, err)
	}
}

// startSync starts a sync with pruning, like the button Sync of the user interface.
func (a *application) startSync() {
	a.n.T.Helper()
	a.patch(map[string]any{"operation": map[string]any{"sync": map[string]any{
		"prune": true, "syncOptions": a.options.syncOptions, "syncStrategy": map[string]any{"hook": map[string]any{}},
	}}})
}

// sync syncs the Application, and waits for the end.
func (a *application) sync() {
	a.n.T.Helper()
	a.startSync()
	a.awaitSynced()
}

// awaitSynced waits for the end of a sync.
func (a *application) awaitSynced() {
	a.n.T.Helper()
	a.n.Eventually("the sync is done", func() error {
		object, err := a.client().Get(a.n.Ctx, a.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := statusOf(object)
		if _, running := object.Object["operation"]; running || status.OperationState.Phase == "Running" {
			return fmt.Errorf("it is %s: %s", status.OperationState.Phase, status.OperationState.Message)
		}
		return nil
	})
	if state := a.status().OperationState; state.Phase != "Succeeded" {
		a.n.T.Fatalf("the sync is %s: %s", state.Phase, state.Message)
	}
}

func (a *application) status() applicationStatus {
	a.n.T.Helper()
	object, err := a.client().Get(a.n.Ctx, a.name, metav1.GetOptions{})
	if err != nil {
		a.n.T.Fatal(err)
	}
	return statusOf(object)
}

func statusOf(application *unstructured.Unstructured) applicationStatus {
	var read struct{ Status applicationStatus }
	// What cannot be read stays empty, and is never what a test waits for.
	if content, err := application.MarshalJSON(); err == nil {
		_ = json.Unmarshal(content, &read)
	}
	return read.Status
}

// await waits until check returns nil for the status of the Application.
func (a *application) await(what string, check func(applicationStatus) error) {
	a.n.T.Helper()
	a.n.Eventually("the Application "+what, func() error { return check(a.status()) })
}

// awaitComparison compares the Application until it has the sync status.
func (a *application) awaitComparison(want string) {
	a.n.T.Helper()
	a.n.Eventually("the Application is "+want, func() error {
		a.refresh()
		if status := a.status(); status.Sync.Status != want {
			return fmt.Errorf("it is %+v", status)
		}
		return nil
	})
}

// awaitHealthy waits until the Application is synced with the last commit, and healthy.
func (a *application) awaitHealthy() {
	a.n.T.Helper()
	revision := a.git("rev-parse", "HEAD")
	a.await("is Synced and Healthy", func(status applicationStatus) error {
		if status.Sync.Revision != revision || status.Sync.Status != "Synced" || status.Health.Status != "Healthy" {
			return fmt.Errorf("it is %+v", status)
		}
		return nil
	})
}

// awaitResource waits until a resource of the Application has the sync status and the health.
func (a *application) awaitResource(kind, name, sync, health string) {
	a.n.T.Helper()
	a.await(fmt.Sprintf("has %s %s, which is %s and %s", kind, name, sync, health), func(status applicationStatus) error {
		i := slices.IndexFunc(status.Resources, func(resource resourceStatus) bool { return resource.Kind == kind && resource.Name == name })
		if i < 0 {
			return fmt.Errorf("it has the resources %+v", status.Resources)
		}
		if resource := status.Resources[i]; resource.Status != sync || resource.Health.Status != health {
			return fmt.Errorf("it is %+v", resource)
		}
		return nil
	})
}

// expectNoDifferences checks that the last comparison found no difference.
func (a *application) expectNoDifferences() {
	a.n.T.Helper()
	compared, err := a.argo.readManagedResources(a.name)
	if err != nil {
		a.n.T.Fatal(err)
	}
	for _, resource := range a.status().Resources {
		if resource.Status == "Synced" {
			continue
		}
		for _, object := range compared {
			if object.Kind == resource.Kind && object.Name == resource.Name {
				diff := cmp.Diff(decode(object.PredictedLiveState), decode(object.NormalizedLiveState))
				a.n.T.Errorf("%s %s is %s, -want +got:\n%s", resource.Kind, resource.Name, resource.Status, diff)
			}
		}
	}
}

// expectNoDifferencesInAnyComparison compares the Application in each way, and checks that there is no difference.
func (a *application) expectNoDifferencesInAnyComparison() {
	a.n.T.Helper()
	for _, options := range []string{"ServerSideDiff=true", "ServerSideDiff=false"} {
		a.compareWith(options)
		a.expectNoDifferences()
	}
}

// expectDefaultsInLists checks that the last comparison found the defaults of a port as differences.
func (a *application) expectDefaultsInLists() {
	a.n.T.Helper()
	a.awaitResource("ModelBox", "reach-clusterip", "OutOfSync", "Healthy")
	a.awaitResource("ModelBox", "workload-job", "Synced", "Healthy")
}

func decode(object string) (decoded map[string]any) {
	// An object that does not exist is empty.
	_ = json.Unmarshal([]byte(object), &decoded)
	return decoded
}
