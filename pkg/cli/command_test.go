// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/cli/cliutil"
)

// commandTest is a command line, and what comes of it.
type commandTest struct {
	name      string
	arguments []string
	// file is the content of a file that --filename names, none where it is empty.
	file string
	// answers are the responses of the cluster, in place of the responses for the other tests of the command.
	answers map[string]runtime.Object
	warning string
	// output are the lines of the output, in any order.
	output []string
	// prints and says are what the output and the error output have among other things.
	prints, says []string
	// fails is what the error has, empty for none.
	fails string
	// requests are those that do not read objects.
	requests []string
}

// run runs the command in a cluster with the objects and answers. It is not for parallel tests: kubectl's commands have variables of
// the process.
func (row *commandTest) run(t *testing.T, objects, answers map[string]runtime.Object) {
	t.Helper()
	cliutil.RegisterTypes()
	defer keepFunctions()()
	arguments := slices.Clone(row.arguments)
	if row.file != "" {
		file := filepath.Join(t.TempDir(), "boxes.yaml")
		if err := os.WriteFile(file, []byte(row.file), 0o600); err != nil {
			t.Fatal(err)
		}
		arguments = slices.Insert(arguments, 1, "--filename="+file)
	}
	c := &cluster{objects: objects, answers: maps.Clone(answers), warning: row.warning}
	if c.answers == nil {
		c.answers = map[string]runtime.Object{}
	}
	maps.Copy(c.answers, row.answers)
	output, said, err := run(t, c, arguments...)
	if len(row.prints) == 0 {
		got := strings.FieldsFunc(output, func(r rune) bool { return r == '\n' })
		slices.Sort(got)
		if diff := cmp.Diff(slices.Sorted(slices.Values(row.output)), got); diff != "" && len(row.output)+len(got) > 0 {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	for _, want := range row.prints {
		if !strings.Contains(output, want) {
			t.Errorf("%q is not in the output:\n%s", want, output)
		}
	}
	for _, want := range row.says {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in the error output:\n%s", want, said)
		}
	}
	if (err != nil) != (row.fails != "") || err != nil && !strings.Contains(err.Error(), row.fails) {
		t.Errorf("got %v, want %q", err, row.fails)
	}
	if diff := cmp.Diff(row.requests, c.requests); diff != "" {
		t.Errorf("requests that do not read objects, -want +got:\n%s", diff)
	}
}

// runAll runs the commands, one after the other.
func runAll(t *testing.T, rows []commandTest, objects, answers map[string]runtime.Object) {
	t.Helper()
	for i := range rows {
		t.Run(rows[i].name, func(t *testing.T) { rows[i].run(t, objects, answers) })
	}
}

// TestCommands is not parallel: kubectl's commands have variables of the process.
func TestCommands(t *testing.T) {
	history := &modelv1.ModelBoxHistory{
		TypeMeta:   metav1.TypeMeta{APIVersion: "model.github.com/v1", Kind: "ModelBoxHistory"},
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Revisions:  []modelv1.ModelBoxRevision{{Revision: 1, Images: []string{"nginx:1"}}, {Revision: 12, Images: []string{"nginx:2"}}},
	}
	objects := stored(newBox("web"), newExposedBox("front"), newBox("mail"), newDeployment("web", "web"), newDeployment("unrelated", ""),
		newPod("web-1", "web"), newPod("mail-1", "mail"))
	answers := map[string]runtime.Object{"GET modelboxes/web/history": history}
	for _, row := range []struct {
		name      string
		arguments []string
		output    []string
		// fails is what the error has, empty for none.
		fails    string
		requests []string
	}{
		{"status shows the rest where a name is not found", []string{"status", "web", "nope", "--show-events=false", "--output=name"},
			[]string{"modelbox.model.github.com/web"}, `"nope" not found`, nil},
		{"status of names that are not found", []string{"status", "nope", "neither"}, nil, `"neither" not found`, nil},
		{"set image refuses the Deployment of a box", []string{"set", "image", "deploy/web", "web=nginx:1.9.1"}, nil,
			"deployments/web is controlled by modelboxes/web, which reverts changes: use kubectl modelbox set image web", nil},
		{"set resources refuses it", []string{"set", "resources", "deploy/web", "--limits=cpu=1"}, nil, "kubectl modelbox set resources web", nil},
		{"set env refuses it", []string{"set", "env", "deploy/web", "A=b"}, nil, "kubectl modelbox set env web", nil},
		{"set env lists it", []string{"set", "env", "deploy/web", "--list"}, []string{"# Deployment web, container web"}, "", nil},
		{"set image changes another Deployment", []string{"set", "image", "deploy/unrelated", "web=nginx:1.9.1"}, nil, "not found",
			[]string{`PATCH deployments/unrelated?fieldManager=kubectl-set strategic-merge-patch+json ` +
				`{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"web"}],"containers":[{"image":"nginx:1.9.1","name":"web"}]}}}}`}},
		{"expose at a port", []string{"expose", "web", "--port=80", "--target-port=http", "--dry-run=client", "--output=jsonpath={.spec.ports}"},
			[]string{`[{"port":80,"protocol":"TCP","targetPort":"http"}]`}, "", nil},
		{"expose at a port that there is", []string{"expose", "front", "--port=80", "--target-port=8080", "--dry-run=client", "--output=jsonpath={.spec.ports}"},
			[]string{`[{"name":"http","port":80,"protocol":"TCP","targetPort":8080}]`}, "", nil},
		{"expose at another protocol", []string{"expose", "front", "--port=80", "--protocol=UDP", "--dry-run=client", "--output=jsonpath={.spec.ports[*].protocol}"},
			[]string{"TCP UDP"}, "", nil},
		{"expose by a type and an Ingress", []string{"expose", "front", "--type=LoadBalancer", "--host=a.example.com", "--host=b.example.com", "--path=/shop",
			"--dry-run=client", "--output=jsonpath={.spec.serviceType} {.spec.ingress.hosts[*]} {.spec.ingress.path}"},
			[]string{"LoadBalancer a.example.com b.example.com /shop"}, "", nil},
		{"expose by a dry run", []string{"expose", "front", "--type=LoadBalancer", "--dry-run=client"}, []string{"modelbox.model.github.com/front exposed (dry run)"}, "", nil},
		{"expose in the cluster", []string{"expose", "front", "--type=LoadBalancer"}, nil, "modelboxes/front: ",
			[]string{`PATCH modelboxes/front?fieldManager=kubectl-modelbox merge-patch+json {"metadata":{"resourceVersion":"7"},"spec":{"serviceType":"LoadBalancer"}}`}},
		{"expose as it is", []string{"expose", "front", "--port=80"}, nil, "modelboxes/front: is already up to date", nil},
		{"expose without a port", []string{"expose", "web", "--type=NodePort"}, nil, "modelboxes/web: has no ports: specify one with --port", nil},
		{"expose in no way", []string{"expose", "web"}, nil, "one of --port, --type, --host and --path must be specified", nil},
		{"expose a target port alone", []string{"expose", "web", "--target-port=80", "--type=NodePort"}, nil, "--protocol and --target-port require --port", nil},
		{"set config", []string{"set", "config", "web", "--mount-path=/etc/web", "--from-literal=a=b", "--dry-run=client", "--output=jsonpath={.spec.configs}"},
			[]string{`[{"data":{"a":"b"},"mountPath":"/etc/web"}]`}, "", nil},
		{"set config without files", []string{"set", "config", "web"}, nil, "one of --from-file, --from-literal and --mount-path must be specified", nil},
		{"exec in a pod that is named", []string{"exec", "web", "--pod=web-1", "--", "date"}, nil, "not found", connections("pods/web-1/exec?command=date&container=web&stderr=true&stdout=true")},
		{"exec in a pod of another box", []string{"exec", "web", "--pod=mail-1", "--", "date"}, nil, "pod mail-1 does not belong to box web", nil},
		{"attach to a pod of another box", []string{"attach", "web", "--pod=mail-1"}, nil, "pod mail-1 does not belong to box web", nil},
		{"port-forward to a pod of another box", []string{"port-forward", "web", ":80", "--pod=mail-1"}, nil, "pod mail-1 does not belong to box web", nil},
		{"wait for all boxes", []string{"wait", "--all"}, []string{"modelbox.model.github.com/front condition met", "modelbox.model.github.com/mail condition met", "modelbox.model.github.com/web condition met"}, "", nil},
		{"wait for all of a type", []string{"wait", "mst", "--all"}, nil, "no matching resources found", nil},
		{"wait for all and a name", []string{"wait", "web", "--all"}, nil, "--all may not be specified together with names", nil},
		{"wait for something else", []string{"wait", "web", "--for=create"}, nil, `--for must be ready or delete, got "create"`, nil},
		{"wait for a deletion", []string{"wait", "web", "nope", "--for=delete"}, []string{"modelbox.model.github.com/web condition met"}, "", nil},
		{"wait for the deletion of nothing", []string{"wait", "nope", "--for=delete"}, nil, "", nil},
		{"look for a deletion", []string{"wait", "web", "--for=delete", "--timeout=0"}, nil, "timed out waiting for the deletion of modelboxes/web", nil},
		{"complete a container", []string{"__complete", "set", "image", "web", "s"}, []string{"sidecar=", ":6"}, "", nil},
		{"complete another container", []string{"__complete", "set", "image", "web", "sidecar=a", ""}, []string{"web=", ":6"}, "", nil},
		{"complete a revision", []string{"__complete", "rollback", "web", "--to-revision", "1"}, []string{"1\tnginx:1", "12\tnginx:2", ":36"}, "",
			[]string{"GET modelboxes/web/history"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			test := commandTest{arguments: row.arguments, output: row.output, fails: row.fails, requests: row.requests}
			test.run(t, objects, answers)
		})
	}
}

// keepFunctions returns what restores the functions that a command sets for its process.
func keepFunctions() func() {
	update, attachable := polymorphichelpers.UpdatePodSpecForObjectFn, polymorphichelpers.AttachablePodForObjectFn
	return func() {
		polymorphichelpers.UpdatePodSpecForObjectFn, polymorphichelpers.AttachablePodForObjectFn = update, attachable
	}
}

// connections are the requests for a connection that the cluster refuses: first by WebSocket, and then by SPDY.
func connections(path string) []string { return []string{"GET " + path, "POST " + path} }
