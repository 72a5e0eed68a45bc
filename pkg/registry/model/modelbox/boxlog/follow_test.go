// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package boxlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// cluster has the pods of a box, and their logs.
type cluster struct {
	*kubelet
	mu      sync.Mutex
	pods    []corev1.Pod
	changed func()
	// forbidden are pods that may not be read.
	forbidden []string
	recorded  []string
	gone      chan struct{}
	abandoned chan struct{}
}

func newCluster() *cluster {
	return &cluster{kubelet: newKubelet(), changed: func() {}, gone: make(chan struct{}), abandoned: make(chan struct{})}
}

// setPod changes a pod, and notifies the watchers.
func (c *cluster) setPod(name string, status corev1.ContainerStatus) {
	status.Name = "main"
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault, UID: types.UID(name), CreationTimestamp: metav1.Now()}}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	c.mu.Lock()
	if i := c.indexOf(name); i < 0 {
		c.pods = append(c.pods, pod)
	} else {
		pod.CreationTimestamp = c.pods[i].CreationTimestamp
		c.pods[i] = pod
	}
	changed := c.changed
	c.mu.Unlock()
	changed()
}

func (c *cluster) indexOf(name string) int {
	return slices.IndexFunc(c.pods, func(pod corev1.Pod) bool { return pod.Name == name })
}

// deletePod lets a pod be gone, with its logs.
func (c *cluster) deletePod(name string) {
	c.kubelet.remove(name)
	c.mu.Lock()
	c.pods = slices.Delete(slices.Clone(c.pods), c.indexOf(name), c.indexOf(name)+1)
	changed := c.changed
	c.mu.Unlock()
	changed()
}

func (c *cluster) list() []corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pods)
}

func running(restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{RestartCount: restarts, ContainerID: fmt.Sprint(restarts), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func terminated(restarts int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{RestartCount: restarts, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: fmt.Sprint(restarts)}}}
}

// run lets a pod run.
func (c *cluster) run(name string) {
	c.start(name)
	c.setPod(name, running(0))
}

// request returns one for the logs of the pods that there are.
func (c *cluster) request(options model.ModelBoxLogOptions) *Request {
	pods := slices.DeleteFunc(c.list(), func(pod corev1.Pod) bool { return options.Pod != "" && pod.Name != options.Pod })
	return &Request{
		Box: &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, Options: &options, Pods: pods,
		Open: c.Open,
		CheckPod: func(_ context.Context, pod string) error {
			if slices.Contains(c.forbidden, pod) {
				return apierrors.NewForbidden(corev1.Resource("pods"), pod, errors.New("the requester may not read it"))
			}
			return nil
		},
		Record: func(_ context.Context, isLater bool, pods []string) { c.recorded = append(c.recorded, pods...) },
		WatchPods: func(_ context.Context, changed func()) (func(context.Context) ([]corev1.Pod, error), error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.changed = changed
			return func(context.Context) ([]corev1.Pod, error) { return c.list(), nil }, nil
		},
		PodUID: func(_ context.Context, pod types.NamespacedName) (types.UID, error) { return types.UID(pod.Name), nil },
		AwaitDeletion: func(ctx context.Context, gone, abandoned chan<- struct{}) {
			select {
			case <-ctx.Done():
				return
			case <-c.gone:
				close(gone)
			}
			select {
			case <-ctx.Done():
			case <-c.abandoned:
				close(abandoned)
			}
		},
		UntilStop: context.WithCancel,
	}
}

// reader has what has been read of a stream.
type reader struct {
	mu   sync.Mutex
	text bytes.Buffer
	err  error
	done chan struct{}
}

// read reads the stream in the background.
func read(t *testing.T, ctx context.Context, request *Request) *reader {
	t.Helper()
	if err := request.Validate(); err != nil {
		t.Fatal(err)
	}
	stream, err := request.Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer stream.Close()
		_, r.err = io.Copy(r, stream)
	}()
	return r
}

func (r *reader) Write(data []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(data)
}

func (r *reader) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// expect compares what has been read when nothing more is to come.
func (r *reader) expect(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.TrimSuffix(r.String(), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// expectEnd waits until the stream ends in order.
func (r *reader) expectEnd(t *testing.T) {
	t.Helper()
	<-r.done
	if r.err != nil {
		t.Error(r.err)
	}
}

func follow() model.ModelBoxLogOptions { return model.ModelBoxLogOptions{Follow: true} }

// TestFollowLosesNoLineAndRepeatsNone follows a container whose connections break all the time, through three restarts. Many of
// its lines have the same time.
func TestFollowLosesNoLineAndRepeatsNone(t *testing.T) {
	t.Parallel()
	for _, breaks := range []int{0, 2, 10, 300} {
		t.Run(fmt.Sprintf("connections break within %d lines", breaks), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.breaks = breaks
				c.run("web")
				logs := read(t, t.Context(), c.request(model.ModelBoxLogOptions{Follow: true, Pod: "web"}))
				pauses := rand.New(rand.NewPCG(3, 4))
				var want []string
				for instance := range int32(4) {
					if instance > 0 {
						c.start("web")
						c.setPod("web", running(instance))
					}
					for number := range 300 {
						line := fmt.Sprintf("line %d of %d", number, instance)
						want = append(want, line)
						c.write("web", line)
						if number%7 == 0 {
							time.Sleep(time.Duration(pauses.IntN(400)) * time.Millisecond)
						}
					}
					c.end("web")
					c.setPod("web", terminated(instance))
					// A container is not started in no time, and an instance before the one before the current one has no log.
					time.Sleep(time.Second + time.Duration(instance)*5*time.Minute)
				}
				time.Sleep(time.Hour)
				logs.expect(t, want...)
				c.deletePod("web")
				logs.expectEnd(t)
				if c.open != 0 {
					t.Errorf("%d connections are left of %d", c.open, c.opened)
				}
			})
		})
	}
}

func TestFollowGoesOnThroughARolloutUntilTheBoxIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.run("old")
		c.write("old", "a")
		logs := read(t, t.Context(), c.request(follow()))
		logs.expect(t, "[pod/old/main] a")
		c.setPod("new", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}})
		c.run("new")
		c.write("new", "b")
		synctest.Wait()
		c.write("old", "the last line")
		c.end("old")
		synctest.Wait()
		c.setPod("old", terminated(0))
		c.deletePod("old")
		logs.expect(t, "[pod/old/main] a", "[pod/new/main] b", "[pod/old/main] the last line")
		close(c.gone)
		synctest.Wait()
		c.write("new", "c")
		c.end("new")
		synctest.Wait()
		c.deletePod("new")
		logs.expectEnd(t)
		logs.expect(t, "[pod/old/main] a", "[pod/new/main] b", "[pod/old/main] the last line", "[pod/new/main] c")
		if diff := cmp.Diff([]string{"old", "new"}, c.recorded); diff != "" {
			t.Errorf("what is recorded, -want +got:\n%s", diff)
		}
	})
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		options model.ModelBoxLogOptions
		do      func(c *cluster)
	}{
		{"with a box that had no pods", follow(), func(c *cluster) {
			c.deletePod("web")
			close(c.gone)
		}},
		{"with a box whose pods keep running", follow(), func(c *cluster) {
			close(c.gone)
			close(c.abandoned)
		}},
		{"with the pod that is named", model.ModelBoxLogOptions{Follow: true, Pod: "web"}, func(c *cluster) {
			c.run("other")
			c.end("web")
			c.deletePod("web")
		}},
		{"with the last container of the pod that is named", model.ModelBoxLogOptions{Follow: true, Pod: "web"}, func(c *cluster) {
			c.end("web")
			c.setPod("web", terminated(0))
			c.mu.Lock()
			c.pods[0].Status.Phase = corev1.PodSucceeded
			c.mu.Unlock()
			c.changed()
		}},
		{"when as many bytes as were asked for are shown", model.ModelBoxLogOptions{Follow: true, Pod: "web", LimitBytes: new(int64(2))}, func(c *cluster) {
			c.write("web", "abc")
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.run("web")
				logs := read(t, t.Context(), c.request(row.options))
				synctest.Wait()
				row.do(c)
				logs.expectEnd(t)
			})
		})
	}
}

// TestFollowLeavesNothingBehind: all goroutines of a bubble have to end, or the test does not.
func TestFollowLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		end  func(cancel func(), stream io.Closer)
	}{
		{"when the request is done", func(cancel func(), _ io.Closer) { cancel() }},
		{"when the stream is closed", func(_ func(), stream io.Closer) { stream.Close() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				for i := range 10 {
					c.run(fmt.Sprintf("web-%d", i))
				}
				c.write("web-0", "no client reads that")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				stream, err := c.request(follow()).Stream(ctx)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if c.open != 10 {
					t.Errorf("there are %d connections", c.open)
				}
				row.end(cancel, stream)
				synctest.Wait()
				if c.open != 0 {
					t.Errorf("%d connections are left", c.open)
				}
			})
		})
	}
}

func TestFollowTellsWhatIsForbidden(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.forbidden = []string{"web-1", "web-3"}
		c.run("web-1")
		if _, err := c.request(follow()).Stream(t.Context()); !apierrors.IsForbidden(err) {
			t.Errorf("where no pod may be read: %v", err)
		}
		c.run("web-2")
		ctx, cancel := context.WithCancel(t.Context())
		logs := read(t, ctx, c.request(follow()))
		synctest.Wait()
		c.run("web-3")
		synctest.Wait()
		for _, pod := range []string{"web-1", "web-2", "web-3"} {
			c.write(pod, "a")
		}
		logs.expect(t,
			`error: pods "web-1" is forbidden: the requester may not read it`,
			`error: pods "web-3" is forbidden: the requester may not read it`,
			`[pod/web-2/main] a`)
		cancel()
		<-logs.done
		if !errors.Is(logs.err, context.Canceled) {
			t.Errorf("the end is %v", logs.err)
		}
	})
}

func TestFollowNoMoreThanAreAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.run("web-1")
		c.run("web-2")
		request := c.request(model.ModelBoxLogOptions{Follow: true, MaxLogRequests: new(int64(1))})
		if err := request.Validate(); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "maxLogRequests: cannot follow 2 logs") {
			t.Errorf("got %v", err)
		}
		c.deletePod("web-2")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		logs := read(t, ctx, c.request(model.ModelBoxLogOptions{Follow: true, MaxLogRequests: new(int64(1))}))
		synctest.Wait()
		c.run("web-2")
		c.write("web-2", "b")
		synctest.Wait()
		c.write("web-1", "a")
		said := "error: maxLogRequests: 1 logs are followed, which is the maximum: further logs wait until one of them ends"
		logs.expect(t, said, "[pod/web-1/main] a")
		c.end("web-1")
		c.deletePod("web-1")
		time.Sleep(time.Minute)
		logs.expect(t, said, "[pod/web-1/main] a", "[pod/web-2/main] b")
	})
}

func TestReadAll(t *testing.T) {
	t.Parallel()
	since := metav1.NewTime(time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC)) // the clock of a test begins with that year
	for _, row := range []struct {
		name    string
		options model.ModelBoxLogOptions
		want    []string
	}{
		{"all pods, the oldest first", model.ModelBoxLogOptions{}, []string{"[pod/web-1/main] a", "[pod/web-1/main] b", "[pod/web-2/main] c"}},
		{"without the prefix", model.ModelBoxLogOptions{Prefix: new(false)}, []string{"a", "b", "c"}},
		{"one pod", model.ModelBoxLogOptions{Pod: "web-1"}, []string{"a", "b"}},
		{"one pod, with the prefix", model.ModelBoxLogOptions{Pod: "web-1", Prefix: new(true)}, []string{"[pod/web-1/main] a", "[pod/web-1/main] b"}},
		{"the last line of each", model.ModelBoxLogOptions{TailLines: new(int64(1))}, []string{"[pod/web-1/main] b", "[pod/web-2/main] c"}},
		{"what is new", model.ModelBoxLogOptions{SinceTime: &since}, []string{"[pod/web-1/main] b", "[pod/web-2/main] c"}},
		{"with the times", model.ModelBoxLogOptions{Pod: "web-2", Timestamps: true}, []string{"2000-01-01T00:01:00.000000000Z c"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				c.run("web-1")
				c.write("web-1", "a")
				time.Sleep(time.Minute)
				c.write("web-1", "b")
				c.run("web-2")
				c.write("web-2", "c")
				logs := read(t, t.Context(), c.request(row.options))
				logs.expectEnd(t)
				logs.expect(t, row.want...)
			})
		})
	}
}

func TestReadAllTellsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.setPod("web-1", corev1.ContainerStatus{})
		if _, err := c.request(model.ModelBoxLogOptions{}).Stream(t.Context()); !apierrors.IsNotFound(err) {
			t.Errorf("where there is no log at all: %v", err)
		}
		c.run("web-2")
		c.write("web-2", "a")
		logs := read(t, t.Context(), c.request(model.ModelBoxLogOptions{}))
		logs.expectEnd(t)
		logs.expect(t, `error: container main of pod web-1: pods "web-1" not found`, "[pod/web-2/main] a")
	})
}

func TestPreviousIsOfPodsThatHaveOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.run("web-1")
		c.run("web-2")
		c.write("web-2", "a")
		if err := c.request(model.ModelBoxLogOptions{Previous: true}).Validate(); !apierrors.IsBadRequest(err) {
			t.Errorf("where there is none: %v", err)
		}
		c.start("web-2")
		c.write("web-2", "b")
		status := running(1)
		status.LastTerminationState = terminated(0).State
		c.setPod("web-2", status)
		logs := read(t, t.Context(), c.request(model.ModelBoxLogOptions{Previous: true}))
		logs.expectEnd(t)
		logs.expect(t, "[pod/web-2/main] a")
	})
}
