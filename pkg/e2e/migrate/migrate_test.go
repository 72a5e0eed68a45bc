// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bufio"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// boxesVariable is the environment variable with the number of boxes.
const boxesVariable = "MODELBOX_E2E_MIGRATED_BOXES"

// rolloutPatience is the timeout for the pods of all boxes to start.
const rolloutPatience = 10 * time.Minute

// TestBoxesMoveThereAndBackWithoutARestart tests a migration: it is checked, killed twice, run by two processes concurrently,
// reverted, and repeated. The deletion of the CustomResourceDefinition makes it final.
func TestBoxesMoveThereAndBackWithoutARestart(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	count := framework.Setting(t, boxesVariable, 20, strconv.Atoi)
	c := newCluster(t)
	for i := range count {
		c.create(customResource(c.namespaces[i%len(c.namespaces)].Name, i))
	}
	operator := operatorStopped(t, c.NewNamespace(t))
	c.awaitRolledOut(rolloutPatience)
	before, owners := c.running(), c.owners()

	expectObstacles(c, operator)

	// If an APIService is applied too early, the discovery of the group is stale. Until the cluster replaces the APIService, the
	// server serves the group without the custom resources. A garbage collector that gets owners then deletes their children.
	c.WhileFrozen(t, framework.ControllerManagerProcess, func() {
		c.kubectl("apply", "--filename="+c.apiServiceFile)
		c.awaitTakenBack()
	})
	directory := filepath.Join(t.TempDir(), "boxes")
	c.migrate("export", "--directory="+directory)
	if found := c.kubectl("api-resources", "--api-group=model.github.com", "--output=name"); !strings.Contains(found, definition) {
		t.Errorf("custom resources are not discovered: %s", found)
	}
	move := []string{"move", "--directory=" + directory, "--filename=" + c.apiServiceFile, "--operator=" + operator}
	for _, strategy := range []string{"client", "server"} {
		c.migrate(append(move, "--dry-run="+strategy)...)
	}
	expectSame(t, "after dry runs", before, c.running())
	expectOwners(t, "after dry runs", owners, c.owners())

	started := time.Now()
	killAfter(c, move, " boxes")
	killAfter(c, move, " moved")
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if run := framework.RunKubectl(c.command(move...), ""); run.Err != nil {
				t.Errorf("moving: %v\n%s", run.Err, run.Stderr)
			}
		})
	}
	both.Wait()
	t.Logf("moved %d boxes in %s, killed twice, and by two at once in the end", count, time.Since(started).Round(time.Second))
	expectMoved := func(when string) {
		t.Helper()
		c.awaitCollector()
		t.Log(when+":", strings.TrimSpace(c.migrate("verify", "--directory="+directory)))
		expectSame(t, when, before, c.running())
		expectServed(c, count)
	}
	expectMoved("after the move")

	started = time.Now()
	c.migrate("rollback", "--directory="+directory)
	t.Logf("went back in %s", time.Since(started).Round(time.Second))
	c.awaitCollector()
	t.Log("after the way back:", strings.TrimSpace(c.migrate("verify", "--directory="+directory)))
	expectSame(t, "after the way back", before, c.running())
	expectOwners(t, "after the way back", owners, c.owners())

	started = time.Now()
	c.migrate(move...)
	t.Logf("moved again in %s", time.Since(started).Round(time.Second))
	expectMoved("after the second move")
	c.kubectl("delete", "customresourcedefinition", definition, "--timeout=5m")
	expectMoved("without the CustomResourceDefinition")
}

// expectObstacles checks that obstacles to the migration are reported, and removes them.
func expectObstacles(c *cluster, operator string) {
	c.t.Helper()
	namespace := c.namespaces[0].Name
	obstacles := map[string]map[string]any{
		"no-image":  {"name": "main"},
		"no.label":  {"image": "nginx"},
		"other-use": {"image": "nginx", "owner": "me"},
	}
	for name, spec := range obstacles {
		object := customResource(namespace, 0)
		object.SetName(name)
		object.Object["spec"] = spec
		if _, err := c.dynamic.Resource(boxes).Namespace(namespace).Create(c.t.Context(), object, metav1.CreateOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
	printed := c.migrateFailing("check", "--operator="+operator)
	for _, want := range []string{"spec.image", "metadata.name", "spec.owner", "Refused"} {
		if !strings.Contains(printed, want) {
			c.t.Errorf("check says nothing of %s:\n%s", want, printed)
		}
	}
	for name := range obstacles {
		if err := c.dynamic.Resource(boxes).Namespace(namespace).Delete(c.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
	c.t.Log(c.migrate("check", "--operator="+operator))
}

// killAfter moves boxes, and kills the process after it has printed a line with this end.
func killAfter(c *cluster, move []string, end string) {
	c.t.Helper()
	command := c.command(move...)
	output, err := command.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		c.t.Fatal(err)
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), end) {
			break
		}
	}
	if err := command.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	if err := command.Wait(); err == nil {
		c.t.Error("the migration ended before it was killed")
	}
}

// expectServed expects the server to serve all boxes.
func expectServed(c *cluster, count int) {
	c.t.Helper()
	list, err := c.ModelClient.ModelV1().ModelBoxes(metav1.NamespaceAll).List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	framework.ExpectEqual(c.t, "boxes of the server", count, len(list.Items))
	for i := range list.Items {
		box := &list.Items[i]
		if box.Annotations["example.com/number"] == "" || box.Labels["team"] == "" || len(box.Status.Conditions) < 2 {
			c.t.Errorf("box %s/%s is not what it was, or no controller writes its status", box.Namespace, box.Name)
		}
	}
}

func expectSame(t *testing.T, when string, before, now running) {
	t.Helper()
	if diff := cmp.Diff(before, now); diff != "" {
		t.Fatalf("%s, what runs is not what it was (-before +now):\n%s", when, diff)
	}
}

func expectOwners(t *testing.T, when string, before, now map[string]types.UID) {
	t.Helper()
	if diff := cmp.Diff(before, now); diff != "" {
		t.Fatalf("%s, Deployments belong to others (-before +now):\n%s", when, diff)
	}
}
