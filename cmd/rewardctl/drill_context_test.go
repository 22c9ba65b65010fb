package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rewardctl/config"
	"rewardctl/config/embedded"
	"rewardctl/grant/granttest"
)

// background starts a server that ends with the test, and waits until it listens.
func background(t *testing.T, port int, name string, args ...string) {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		name = path
	} else {
		name = filepath.Join("/usr/sbin", name) // not in everybody's path
	}
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	until(t, name+" to listen", func() bool {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// behindSentinel makes a context whose Redis a sentinel names.
func behindSentinel(t *testing.T, conf *config.Context) {
	t.Helper()
	primary, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = primary.Stop() })
	port, dir := granttest.FreePort(t), t.TempDir()
	path := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\n"+
		"sentinel monitor mymaster 127.0.0.1 %d 1\n", port, dir, primary.Port())
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	background(t, port, "redis-server", path, "--sentinel")
	conf.Redis.Addrs = []string{fmt.Sprintf("127.0.0.1:%d", port)}
	conf.Redis.MasterName = "mymaster"
}

// overTLS makes a context whose Redis speaks TLS only, with a certificate of its own.
func overTLS(t *testing.T, conf *config.Context) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"redis"},
		IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: cert}, "key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	port := granttest.FreePort(t)
	background(t, port, "redis-server", "--port", "0", "--tls-port", strconv.Itoa(port), "--bind",
		"127.0.0.1", "--tls-cert-file", filepath.Join(dir, "cert"), "--tls-key-file",
		filepath.Join(dir, "key"), "--tls-auth-clients", "no", "--save", "", "--dir", dir)
	conf.Redis.Addrs = []string{fmt.Sprintf("127.0.0.1:%d", port)}
	conf.Redis.TLS, conf.Redis.TLSServerName = true, "redis"
	conf.Redis.TLSCAFile = filepath.Join(dir, "cert")
}

// TestDrillsOnOtherRedis plays the drills that stand between client and server, and the failover,
// behind a sentinel and over TLS.
func TestDrillsOnOtherRedis(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *config.Context){
		"sentinel": behindSentinel, "tls": overTLS,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChild(t)
			whole, err := config.Load(config.Source{
				File: c.config, Context: "owner", Environ: []string{},
			})
			if err != nil {
				t.Fatal(err)
			}
			conf := whole.Active()
			change(t, &conf)
			path := filepath.Join(c.dir, name+".yaml")
			if err := config.Write(path, "owner", conf); err != nil {
				t.Fatal(err)
			}
			drills := []string{"partition", "lost-reply", "failover"}
			if testing.Short() {
				drills = drills[:1]
			}
			for _, drill := range drills {
				play := func() ([]byte, error) {
					return c.command("--config", path, "drill", "run", drill, "--ttl", "300ms").
						CombinedOutput()
				}
				out, err := play()
				if strings.Contains(string(out), "did not play out") { // too slow a machine for 300 ms
					out, err = play()
				}
				if err != nil || !strings.Contains(string(out), "proved:") {
					t.Errorf("%s: %v: %s", drill, err, out)
				}
			}
		})
	}
}

// A pooler in transaction mode cannot carry a drill's own schema: that is said before anything is
// made, not by the pooler in the middle.
func TestDrillRefusesAPooler(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	var conf config.Context
	conf.Name, conf.Operator = "pooled", "mara"
	conf.Postgres.URL, conf.Postgres.Pooler = "postgres://nobody@127.0.0.1:1/none", true
	conf.Redis.Addrs = []string{c.world.RedisAddr}
	path := filepath.Join(c.dir, "pooled.yaml")
	if err := config.Write(path, "pooled", conf); err != nil {
		t.Fatal(err)
	}
	cmd := c.command("--config", path, "drill", "run", "paused-holder")
	out, _ := cmd.CombinedOutput() // the exit code says how it went
	if cmd.ProcessState.ExitCode() != int(exitUsage) ||
		!strings.Contains(string(out), "goes through a pooler") {
		t.Errorf("exit %d: %s", cmd.ProcessState.ExitCode(), out)
	}
}
