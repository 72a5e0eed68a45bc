// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package servingcertificate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func TestFirstServerIssuesAndOthersTakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		first, second := c.newController(t), c.newController(t)
		if err := first.Check(nil); err == nil {
			t.Error("a server is ready before it has a certificate")
		}
		runOnce(t, first)
		runOnce(t, second)
		c.expectTrusted(t, first)
		c.expectTrusted(t, second)
		if !leafOf(t, first).Equal(leafOf(t, second)) {
			t.Error("the servers serve with different certificates")
		}
		if writes := c.countWrites(); writes != 2 {
			t.Errorf("%d writes, want one of the Secret and one of the APIService", writes)
		}
		secret := c.secret(t)
		if secret.Type != corev1.SecretTypeTLS || secret.Labels["app.kubernetes.io/managed-by"] != "modelbox-apiserver" {
			t.Errorf("the Secret has type %s and labels %v", secret.Type, secret.Labels)
		}
	})
}

// TestServersThatStartAtTheSameTimeAgree lets another server create the Secret between the read and the write of this one.
func TestServersThatStartAtTheSameTimeAgree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		fast := c.newController(t)
		slow := c.newController(t, func(config *Config) {
			config.KubeClient = &racedKube{Interface: c.kube, beforeCreate: sync.OnceFunc(func() { runOnce(t, fast) })}
		})
		runOnce(t, slow)
		if !leafOf(t, slow).Equal(leafOf(t, fast)) {
			t.Error("the servers serve with different certificates")
		}
		c.expectTrusted(t, slow)
	})
}

// TestTwoWeeksOfTwoServers checks hour by hour what a client sees that trusts what the cluster trusts, or trusted an hour
// ago.
func TestTwoWeeksOfTwoServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		first, second := c.newController(t, short), c.newController(t, short)
		start(t, first)
		stop := start(t, second)
		synctest.Wait()

		cas, leaves, longest := map[string]bool{}, map[string]bool{}, 0
		for hour := range 24 * 15 {
			before := c.apiService(t).Spec.CABundle
			time.Sleep(time.Hour)
			synctest.Wait()
			after := c.apiService(t).Spec.CABundle
			for name, controller := range map[string]*Controller{"first": first, "second": second} {
				leaf := leafOf(t, controller)
				leaves[leaf.SerialNumber.String()], cas[leaf.Issuer.CommonName] = true, true
				for _, bundle := range [][]byte{before, after} {
					if err := verify(leaf, bundle); err != nil {
						t.Fatalf("hour %d: the %s server is refused: %v", hour, name, err)
					}
				}
			}
			longest = max(longest, bytes.Count(after, []byte("BEGIN CERTIFICATE")))
			if hour%50 == 25 { // a restart at any point of a rotation
				stop()
				second = c.newController(t, short)
				stop = start(t, second)
				synctest.Wait()
			}
		}
		c.expectTrusted(t, first)
		c.expectTrusted(t, second)
		if longest != 2 {
			t.Errorf("up to %d CAs are trusted at a time, want one and its successor", longest)
		}
		// Every 12 hours a certificate, and with each CA, every 2 days, one at once.
		if len(leaves) < 30 || len(leaves) > 38 || len(cas) < 7 || len(cas) > 9 {
			t.Errorf("there were %d certificates of %d CAs", len(leaves), len(cas))
		}
		// For a CA three writes of the Secret and two of the APIService.
		if writes, most := c.countWrites(), len(leaves)+5*len(cas); writes > most {
			t.Errorf("%d writes, want at most %d", writes, most)
		}
	})
}

func TestNextCADoesNotSignBeforeTheClusterHasTrustedItForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		controller := c.newController(t, short)
		runOnce(t, controller)
		time.Sleep(2 * day)
		c.refuseWith(forbid("patch", "apiservices"))
		if err := controller.RunOnce(t.Context()); err == nil {
			t.Error("no error when the caBundle cannot be written")
		}
		for range 3 {
			time.Sleep(time.Hour)
			_ = controller.RunOnce(t.Context())
		}
		c.expectTrusted(t, controller)

		c.refuseWith(nil)
		signer := func() string { return leafOf(t, controller).Issuer.CommonName }
		former := signer()
		runOnce(t, controller)
		time.Sleep(maxTrustDelay - time.Second)
		runOnce(t, controller)
		if signer() != former {
			t.Error("the next CA signs too early")
		}
		time.Sleep(time.Second)
		runOnce(t, controller)
		if signer() == former {
			t.Error("the next CA does not sign")
		}
		c.expectTrusted(t, controller)
	})
}

func TestNextCADoesNotSignWhenSomebodyHasTakenItOutOfTheCABundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		controller := c.newController(t, short)
		runOnce(t, controller)
		former := c.apiService(t).Spec.CABundle
		time.Sleep(2 * day)
		runOnce(t, controller)
		time.Sleep(maxTrustDelay)
		c.editAPIService(t, func(apiService *apiregistrationv1.APIService) { apiService.Spec.CABundle = former })
		runOnce(t, controller)
		if err := verify(leafOf(t, controller), former); err != nil {
			t.Errorf("the next CA signs: %v", err)
		}
		time.Sleep(maxTrustDelay)
		runOnce(t, controller)
		if err := verify(leafOf(t, controller), former); err == nil {
			t.Error("the next CA does not sign after it was trusted again for a while")
		}
		c.expectTrusted(t, controller)
	})
}

func TestNothingIsWrittenWhenNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		start(t, c.newController(t))
		start(t, c.newController(t))
		synctest.Wait()
		before := c.countWrites()
		time.Sleep(2 * day)
		synctest.Wait()
		if writes := c.countWrites() - before; writes != 0 {
			t.Errorf("%d writes", writes)
		}
	})
}

func TestAPIServiceIsHealed(t *testing.T) {
	for _, row := range []struct {
		name string
		edit func(*apiregistrationv1.APIService)
	}{
		{"without a caBundle", func(apiService *apiregistrationv1.APIService) { apiService.Spec.CABundle = nil }},
		{"with another CA", func(apiService *apiregistrationv1.APIService) { apiService.Spec.CABundle = []byte("another") }},
		{"with one CA more", func(apiService *apiregistrationv1.APIService) {
			apiService.Spec.CABundle = append(apiService.Spec.CABundle, "another"...)
		}},
		{"that trusts everybody", func(apiService *apiregistrationv1.APIService) {
			apiService.Spec.CABundle, apiService.Spec.InsecureSkipTLSVerify = nil, true
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, leadingTo("modelbox-apiserver"))
				controller := c.newController(t)
				start(t, controller)
				start(t, c.newController(t))
				synctest.Wait()
				want := c.apiService(t).Spec
				before := c.countWrites()
				c.editAPIService(t, row.edit)
				time.Sleep(time.Second)
				synctest.Wait()
				if diff := cmp.Diff(want, c.apiService(t).Spec); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				if writes := c.countWrites() - before - 1; writes != 1 {
					t.Errorf("it took %d writes", writes)
				}
				c.expectTrusted(t, controller)
			})
		})
	}
}

func TestSecretIsReplaced(t *testing.T) {
	for _, row := range []struct {
		name string
		harm func(t *testing.T, c *cluster)
		want string
	}{
		{"deleted", func(t *testing.T, c *cluster) { c.deleteSecret(t) }, "the Secret was deleted: issued a CA and a serving certificate"},
		{"emptied", func(t *testing.T, c *cluster) { c.editSecret(t, func(secret *corev1.Secret) { secret.Data = nil }) }, "the Secret is invalid: ca.crt: "},
		{"corrupted", func(t *testing.T, c *cluster) {
			c.editSecret(t, func(secret *corev1.Secret) { secret.Data["tls.key"] = []byte("garbage") })
		}, "the Secret is invalid: tls.key: it is not a private key: issued a CA and a serving certificate"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, leadingTo("modelbox-apiserver"))
				controller := c.newController(t)
				start(t, controller)
				synctest.Wait()
				time.Sleep(time.Second) // events are named by the time
				stolen, formerBundle := leafOf(t, controller), c.apiService(t).Spec.CABundle
				row.harm(t, c)
				time.Sleep(time.Second)
				synctest.Wait()
				c.expectTrusted(t, controller)
				if err := verify(stolen, c.apiService(t).Spec.CABundle); err == nil {
					t.Error("the former certificate is trusted")
				}
				if bytes.Equal(formerBundle, c.apiService(t).Spec.CABundle) {
					t.Error("the CA is the former one")
				}
				if notes := c.eventNotes(t, corev1.EventTypeWarning); len(notes) != 1 || !strings.HasPrefix(notes[0], row.want) {
					t.Errorf("events %q, want %q", notes, row.want)
				}
			})
		})
	}
}

func (c *cluster) eventNotes(t *testing.T, eventType string) []string {
	t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	events, err := c.kube.EventsV1().Events(secretKey.Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, event := range events.Items {
		if event.Type == eventType && event.Regarding.Name == secretKey.Name {
			notes = append(notes, event.Note)
		}
	}
	return notes
}

func TestSecretOfSomebodyElseIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		foreign := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: secretKey.Name},
			Data:       map[string][]byte{"tls.crt": []byte("theirs")},
		}
		if err := c.kube.Tracker().Add(foreign); err != nil {
			t.Fatal(err)
		}
		controller := c.newController(t)
		err := controller.RunOnce(t.Context())
		if err == nil || !strings.Contains(err.Error(), "this server did not create it") {
			t.Errorf("got %v", err)
		}
		if writes := c.countWrites(); writes != 0 {
			t.Errorf("%d writes", writes)
		}
		if err := controller.Check(nil); err == nil || !strings.Contains(err.Error(), "this server did not create it") {
			t.Errorf("readiness says %v", err)
		}
	})
}

// No server would do better than those that serve.
func TestServerGoesOnWhenTheSecretLosesItsLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		controller := c.newController(t)
		if err := controller.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		secrets := c.kube.CoreV1().Secrets(secretKey.Namespace)
		secret, err := secrets.Get(t.Context(), secretKey.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		delete(secret.Labels, managedByLabel)
		if _, err := secrets.Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := controller.RunOnce(t.Context()); !errors.Is(err, errForeignSecret) {
			t.Errorf("got %v", err)
		}
		if err := controller.Check(nil); err != nil {
			t.Errorf("readiness says %v", err)
		}
		if err := c.newController(t).Check(nil); err == nil {
			t.Error("a server that has just been started is ready")
		}
	})
}

func TestMissingRights(t *testing.T) {
	for _, row := range []struct {
		name, verb, resource, want string
	}{
		{"to read the Secret", "get", "secrets", "reading Secret modelbox-system/modelbox-apiserver-certificate of the serving certificate: secrets"},
		{"to create the Secret", "create", "secrets", "creating Secret modelbox-system/modelbox-apiserver-certificate for the serving certificate: secrets"},
		{"to read the APIService", "get", "apiservices", "reading APIService v1.model.github.com: apiservices"},
		{"to write the APIService", "patch", "apiservices", "writing the caBundle of APIService v1.model.github.com: apiservices"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, leadingTo("modelbox-apiserver"))
				c.refuseWith(forbid(row.verb, row.resource))
				controller := c.newController(t)
				start(t, controller)
				time.Sleep(time.Minute)
				synctest.Wait()
				err := controller.Check(nil)
				if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "cannot "+row.verb) {
					t.Errorf("readiness says %v, want %s", err, row.want)
				}
				if certificate, key := controller.CurrentCertKeyContent(); len(certificate) == 0 || len(key) == 0 {
					t.Error("nothing is served meanwhile, not even readiness")
				}
				c.refuseWith(nil)
				time.Sleep(maxRetryPeriod)
				synctest.Wait()
				c.expectTrusted(t, controller)
			})
		})
	}
}

func TestReadinessAfterwards(t *testing.T) {
	unreachable := func(clienttesting.Action) error {
		return apierrors.NewInternalError(fmt.Errorf("the cluster is unavailable"))
	}
	for _, row := range []struct {
		name  string
		after time.Duration
		want  string
	}{
		{"does not depend on the cluster", 80 * day, ""},
		{"ends with the certificate", 91 * day, "the serving certificate expired at 2000-03-31T00:00:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, leadingTo("modelbox-apiserver"))
				controller := c.newController(t)
				runOnce(t, controller)
				c.refuseWith(unreachable)
				time.Sleep(row.after)
				_ = controller.RunOnce(t.Context())
				switch err := controller.Check(nil); {
				case row.want == "" && err != nil:
					t.Error(err)
				case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
					t.Errorf("got %v, want %s", err, row.want)
				}
			})
		})
	}
}

func TestAPIServicesThatDoNotLeadHere(t *testing.T) {
	local := leadingTo("")
	local.Spec.Service = nil
	for name, c := range map[string]func(t *testing.T) *cluster{
		"there is none":                       func(t *testing.T) *cluster { return newCluster(t) },
		"the cluster serves the group itself": func(t *testing.T) *cluster { return newCluster(t, local) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := c(t)
				controller := c.newController(t, short)
				runOnce(t, controller)
				if err := controller.Check(nil); err != nil {
					t.Errorf("the server is not ready: %v", err)
				}
				if writes := c.countWrites(); writes != 1 {
					t.Errorf("%d writes, want the write of the Secret", writes)
				}
				// Its CA is replaced all the same.
				time.Sleep(2 * day)
				runOnce(t, controller)
				time.Sleep(maxTrustDelay)
				runOnce(t, controller)
				if err := verify(leafOf(t, controller), c.secret(t).Data["ca.crt"]); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestAPIServiceThatAppearsIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		controller := c.newController(t)
		start(t, controller)
		synctest.Wait()
		if _, err := c.aggregator.ApiregistrationV1().APIServices().Create(t.Context(), leadingTo("modelbox-apiserver"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		c.expectTrusted(t, controller)
	})
}

// TestServerThatKnowsAnOlderSecretDoesNotWriteItsBundle lets another server rotate between the reads and the write of this one.
func TestServerThatKnowsAnOlderSecretDoesNotWriteItsBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		fast := c.newController(t)
		runOnce(t, fast)
		c.editAPIService(t, func(apiService *apiregistrationv1.APIService) { apiService.Spec.CABundle = nil })
		slow := c.newController(t, func(config *Config) {
			config.AggregatorClient = &racedAggregator{Interface: c.aggregator, beforePatch: sync.OnceFunc(func() {
				c.deleteSecret(t)
				runOnce(t, fast)
			})}
		})
		runOnce(t, slow)
		c.expectTrusted(t, slow)
		c.expectTrusted(t, fast)
	})
}

func TestListenersAreToldOfAnotherCertificate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, leadingTo("modelbox-apiserver"))
		controller := c.newController(t)
		var told listener
		controller.AddListener(&told)
		runOnce(t, controller)
		runOnce(t, controller)
		if told != 1 {
			t.Errorf("told %d times of the first certificate", told)
		}
		time.Sleep(61 * day)
		runOnce(t, controller)
		if told != 2 {
			t.Errorf("told %d times of two certificates", told)
		}
	})
}

type listener int

func (l *listener) Enqueue() { *l++ }
