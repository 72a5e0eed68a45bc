// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestGetPrintsColumns(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2)))
	for _, test := range []struct {
		arguments string
		want      []string
	}{
		{"get mb", []string{
			"NAME READY UP-TO-DATE STATUS IMAGE ADDRESS AGE",
			"web 2/2 2 Ready nginx:1.7.9 web." + n.Name + ".svc:80 <age>",
		}},
		{"get modelbox web --output=wide", []string{
			"NAME READY UP-TO-DATE STATUS IMAGE ADDRESS AGE WORKLOAD ROLLOUT SIZE MESSAGE SERVICE HOSTS AUTOSCALING",
			"web 2/2 2 Ready nginx:1.7.9 web." + n.Name + ".svc:80 <age> Deployment <none> custom 2 of 2 replicas are available ClusterIP 80/TCP <none> <none>",
		}},
		{"get modelboxes.v1.model.github.com --output=name", []string{"modelbox.model.github.com/web"}},
		{"get mb web --no-headers --output=custom-columns=IMAGE:.spec.image", []string{"nginx:1.7.9"}},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			framework.ExpectEqual(t, "rows", test.want, rowsOf(n.In(t).Kubectl.Run(strings.Fields(test.arguments)...)))
		})
	}
	t.Run("get all", func(t *testing.T) {
		all := n.In(t).Kubectl.Run("get", "all", "--output=name")
		for _, name := range []string{"modelbox.model.github.com/web", "deployment.apps/web", "service/web"} {
			if !strings.Contains(all, name+"\n") {
				t.Errorf("%s is not there:\n%s", name, all)
			}
		}
	})
}

// rowsOf splits the output of kubectl into lines with single spaces, without the age.
func rowsOf(table string) []string {
	var rows []string
	lines := strings.Split(strings.TrimSpace(table), "\n")
	age := strings.Index(lines[0], " AGE")
	for i, line := range lines {
		if i > 0 && age >= 0 {
			_, rest, _ := strings.Cut(line[age+1:], " ")
			line = line[:age] + " <age> " + rest
		}
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	return rows
}

// TestGetWatchPrintsChanges leaves "kubectl get --watch" running while the box changes.
func TestGetWatchPrintsChanges(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	rows := watchRows(n, "get", "mb", "--watch")
	rows.await(t, "web 1/1 1 Ready nginx:1.7.9")

	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	rows.await(t, "Progressing nginx:1.8")
	rows.await(t, "web 1/1 1 Ready nginx:1.8")

	n.Kubectl.Run("delete", "mb", "web")
	n.CreateBox(framework.NewBox("next"))
	rows.await(t, "next 1/1 1 Ready nginx:1.7.9")
}

// watchedRows has the output lines of a kubectl in the background.
type watchedRows struct {
	mu   sync.Mutex
	rows []string
	seen int
}

func watchRows(n *framework.Namespace, arguments ...string) *watchedRows {
	n.T.Helper()
	command := n.Kubectl.Command(arguments...) // killed when the test ends
	output, err := command.StdoutPipe()
	if err != nil {
		n.T.Fatal(err)
	}
	if err := command.Start(); err != nil {
		n.T.Fatal(err)
	}
	n.T.Cleanup(func() { _ = command.Wait() })
	watched := &watchedRows{}
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			watched.mu.Lock()
			watched.rows = append(watched.rows, strings.Join(strings.Fields(lines.Text()), " "))
			watched.mu.Unlock()
		}
	}()
	return watched
}

// await waits for a row that contains the text, after the last row that was found.
func (w *watchedRows) await(t *testing.T, text string) {
	t.Helper()
	framework.Eventually(t, framework.Patience, fmt.Sprintf("the watch shows %q", text), func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, row := range w.rows[w.seen:] {
			if strings.Contains(row, text) {
				w.seen += i + 1
				return nil
			}
		}
		return errors.New("it shows:\n" + strings.Join(w.rows, "\n"))
	})
}

// TestGetWidePrintsNodePorts checks node ports that the cluster has assigned.
func TestGetWidePrintsNodePorts(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	box := framework.NewBox("web", framework.WithPorts(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 53, Protocol: corev1.ProtocolUDP}))
	box.Spec.ServiceType = "NodePort"
	n.CreateReadyBox(box)
	ports := n.GetService("web").Spec.Ports
	want := fmt.Sprintf("NodePort 80:%d/TCP,53:%d/UDP", ports[0].NodePort, ports[1].NodePort)
	if table := n.Kubectl.Run("get", "mb", "web", "--output=wide"); !strings.Contains(table, want) {
		t.Errorf("the table does not say %q:\n%s", want, table)
	}
}

func TestDescribeShowsConditionsAndEvents(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	n.Eventually("describe shows the spec, the conditions and the events", func() error {
		text := n.Kubectl.Run("describe", "mb", "web")
		for _, words := range []string{"nginx:1.7.9", "Conditions:", "RolloutComplete", "CreatedDeployment", "CreatedService"} {
			if !strings.Contains(text, words) {
				return fmt.Errorf("no %q in:\n%s", words, text)
			}
		}
		return nil
	})
}
