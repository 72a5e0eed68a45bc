// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	tokenLifetimeSeconds = 3600
	tokenRetryInterval   = 5 * time.Second
)

// provideCredentials gives the server the credentials of a pod of its service account: a token that is replaced after half of its
// lifetime. The server never has the credentials of the administrator.
func (in *installation) provideCredentials(ctx context.Context) error {
	renewAt, err := in.writeToken(ctx)
	if err != nil {
		return err
	}
	go in.renewToken(renewAt)
	user := &clientcmdapi.AuthInfo{TokenFile: in.tokenFile()}
	return in.cluster.WriteKubeconfig(in.kubeconfig(), user)
}

// renewToken renews the token until the process ends.
func (in *installation) renewToken(at time.Time) {
	for {
		time.Sleep(time.Until(at))
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		next, err := in.writeToken(ctx)
		cancel()
		if err != nil {
			in.report.Say(fmt.Sprintf("token of %s not renewed: %v", name, err))
			next = time.Now().Add(tokenRetryInterval)
		}
		at = next
	}
}

// writeToken writes a new token, and returns the time at which it should be replaced.
func (in *installation) writeToken(ctx context.Context) (renewAt time.Time, err error) {
	lifetime := int64(tokenLifetimeSeconds)
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &lifetime},
	}
	answer, err := in.cluster.Client.CoreV1().ServiceAccounts(namespace).
		CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return time.Time{}, fmt.Errorf("requesting a token: %w", err)
	}
	// Rename the file, because the server may read it at any time.
	draft := in.tokenFile() + ".new"
	if err := os.WriteFile(draft, []byte(answer.Status.Token), 0o600); err != nil {
		return time.Time{}, fmt.Errorf("writing the token: %w", err)
	}
	if err := os.Rename(draft, in.tokenFile()); err != nil {
		return time.Time{}, fmt.Errorf("writing the token: %w", err)
	}
	return time.Now().Add(time.Until(answer.Status.ExpirationTimestamp.Time) / 2), nil
}

func (in *installation) tokenFile() string  { return in.cluster.ModelBox("token") }
func (in *installation) kubeconfig() string { return in.cluster.ModelBox("kubeconfig") }
