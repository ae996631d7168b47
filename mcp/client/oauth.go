package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Page is where a user logs in to a server.
type Page struct {
	Server string // its name
	URL    string
}

// errLogin is a server that wants a login where nobody can log in.
var errLogin = errors.New("it wants a login, which bx mcp test asks for")

// grant is what a login left: a token, and what it takes to renew it. It counts
// for one URL.
type grant struct {
	URL      string           `json:"url"`
	ClientID string           `json:"client_id"`
	Secret   string           `json:"client_secret,omitempty"`
	TokenURL string           `json:"token_url"`
	Style    oauth2.AuthStyle `json:"auth_style"`
	Scopes   []string         `json:"scopes,omitempty"`
	Token    *oauth2.Token    `json:"token"`
}

// keeper is the auth.OAuthHandler of a server: it takes the token that is kept,
// and keeps what a login or a renewal brings.
type keeper struct {
	server *server
	url    string
	secret string
	client *http.Client

	mu     sync.Mutex
	source oauth2.TokenSource
}

// login is who sees to the tokens for a server's URL.
func (s *server) login(url string) (auth.OAuthHandler, error) {
	secret, err := expand(s.OAuth.ClientSecret, "client_secret", s.pool.config.Env)
	if err != nil {
		return nil, err
	}
	k := &keeper{server: s, url: url, secret: secret, client: s.pool.config.HTTP}
	if g, ok := k.kept(); ok {
		conf := &oauth2.Config{ClientID: g.ClientID, ClientSecret: g.Secret, Scopes: g.Scopes, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.Style}}
		ctx := context.WithValue(s.pool.ctx, oauth2.HTTPClient, k.client)
		k.source = &saving{keeper: k, grant: g, next: conf.TokenSource(ctx, g.Token)}
	}
	return k, nil
}

func (k *keeper) file() string {
	return fmt.Sprintf("%s-%s.json", k.server.Name, digest([]byte("login\x00" + k.url))[:12])
}

func (k *keeper) kept() (g grant, ok bool) {
	if k.server.pool.book.dir == "" {
		return g, false
	}
	b, err := os.ReadFile(filepath.Join(k.server.pool.book.dir, k.file()))
	if err != nil || json.Unmarshal(b, &g) != nil || g.URL != k.url || g.Token == nil {
		return grant{}, false
	}
	return g, true
}

func (k *keeper) keep(g grant) {
	if k.server.pool.book.dir == "" {
		return
	}
	b, err := json.Marshal(g)
	if err == nil {
		err = k.server.pool.book.put(k.file(), b)
	}
	if err != nil {
		k.server.pool.warn("the login at the MCP server %s is not kept: %v", k.server.Name, err)
	}
}

// TokenSource is a method of auth.OAuthHandler.
func (k *keeper) TokenSource(context.Context) (oauth2.TokenSource, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.source, nil
}

// Authorize is a method of auth.OAuthHandler: the user logs in, where there is one.
func (k *keeper) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	if k.server.pool.config.Login == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxFrame))
		resp.Body.Close()
		return errLogin
	}
	back, err := listen()
	if err != nil {
		resp.Body.Close()
		return err
	}
	defer back.close()
	handler, err := auth.NewAuthorizationCodeHandler(k.flow(back))
	if err != nil {
		resp.Body.Close()
		return err
	}
	if err := handler.Authorize(ctx, req, resp); err != nil {
		return err
	}
	source, err := handler.TokenSource(ctx)
	if err != nil || source == nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.source = source
	return nil
}

// flow is a login by a page that leads back to this program.
func (k *keeper) flow(back *landing) *auth.AuthorizationCodeHandlerConfig {
	conf := &auth.AuthorizationCodeHandlerConfig{RedirectURL: back.url, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: k.client}
	conf.AuthorizationCodeFetcher = func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		if err := k.server.pool.config.Login(ctx, Page{k.server.Name, a.URL}); err != nil {
			return nil, err
		}
		return back.wait(ctx)
	}
	conf.NewTokenSource = func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
		g := grant{k.url, c.ClientID, c.ClientSecret, c.Endpoint.TokenURL, c.Endpoint.AuthStyle, c.Scopes, t}
		k.keep(g)
		return &saving{keeper: k, grant: g, next: c.TokenSource(context.WithoutCancel(ctx), t)}, nil
	}
	if scopes := k.server.OAuth.Scopes; len(scopes) > 0 {
		conf.ScopeFilter = func([]string) []string { return scopes }
	}
	if id := k.server.OAuth.ClientID; id != "" {
		conf.PreregisteredClient = &oauthex.ClientCredentials{ClientID: id}
		if k.secret != "" {
			conf.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: k.secret}
		}
		return conf
	}
	conf.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		ClientName: "bx", RedirectURIs: []string{back.url}, GrantTypes: []string{"authorization_code", "refresh_token"},
		ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none"}}
	return conf
}

// saving keeps a token that was renewed.
type saving struct {
	keeper *keeper
	next   oauth2.TokenSource

	mu    sync.Mutex
	grant grant
}

// Token is the method of an oauth2.TokenSource. A token that cannot be renewed is
// none, so that the server asks for a login.
func (s *saving) Token() (*oauth2.Token, error) {
	t, err := s.next.Token()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return s.grant.Token, nil
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.AccessToken != s.grant.Token.AccessToken || t.RefreshToken != s.grant.Token.RefreshToken {
		s.grant.Token = t
		s.keeper.keep(s.grant)
	}
	return t, nil
}

// landing is the page to which a login leads back, on this machine.
type landing struct {
	url    string
	server *http.Server
	came   chan *auth.AuthorizationResult
	failed chan error
}

func listen() (*landing, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("no login: %w", err)
	}
	b := &landing{url: fmt.Sprintf("http://%s/callback", l.Addr()), came: make(chan *auth.AuthorizationResult, 1), failed: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", b.land)
	b.server = &http.Server{Handler: mux}
	go func() { _ = b.server.Serve(l) }()
	return b, nil
}

// land takes the outcome of a login from the address of the page. Only the first
// one counts; who knows the state is checked by who asked.
func (b *landing) land(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if why := q.Get("error"); why != "" {
		select {
		case b.failed <- fmt.Errorf("the login failed: %s", line(why+" "+q.Get("error_description"))):
		default:
		}
		fmt.Fprintln(w, "The login failed. You can close this page.")
		return
	}
	select {
	case b.came <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
	default:
	}
	fmt.Fprintln(w, "bx is logged in. You can close this page.")
}

func (b *landing) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case r := <-b.came:
		return r, nil
	case err := <-b.failed:
		return nil, err
	case <-ctx.Done():
		return nil, errors.New("nobody logged in")
	}
}

func (b *landing) close() { b.server.Close() }
